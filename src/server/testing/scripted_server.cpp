// A server without a model, for tests in other languages: what it answers comes from its standard
// input, one JSON value a line. A string is a choice's whole output in the model's own format, with
// special tokens spelled out; an array is the same as token ids. Choices take them in the order of
// their requests. An object is an order: {"steps": 3} lets the engine make three more steps and
// then holds it, {"steps": null} lets it go on for good. For every line the number of outputs that
// wait is printed, so that a test knows that its own is there. Ends with its input.
//
// usage: scripted_server [API_KEY [PORT [TEMPLATE]]], where an empty key means none and port 0 any
// free one. With a TEMPLATE, the text of a chat template, conversations are written by it instead
// of as gpt-oss's are.

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/server.h"
#include "server/testing/fake_engine_internal.h"
#include "text/chat/chat_format.h"
#include "text/tokenizer.h"

namespace rapt {

namespace {

constexpr int kVocabSize = 201'088;
constexpr int kMaxModelLen = 131'072;

// Outputs that wait for a choice. Lines come from the main thread, choices from IO threads.
class OutputQueue {
 public:
  std::size_t push(std::vector<TokenId> output) {
    const std::lock_guard lock(mutex_);
    outputs_.push_back(std::move(output));
    return outputs_.size();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return outputs_.size();
  }

  // Nothing is said when nothing waits.
  std::vector<TokenId> pop() {
    const std::lock_guard lock(mutex_);
    if (outputs_.empty()) {
      return {};
    }
    std::vector<TokenId> output = std::move(outputs_.front());
    outputs_.pop_front();
    return output;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::vector<TokenId>> outputs_;
};

Result<std::vector<TokenId>> parse_output(const std::string& line, const Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(const json::value value, parse_json(line, "the line"));
  if (value.is_string()) {
    return tokenizer.encode_with_special(value.get_string());
  }
  std::vector<TokenId> ids;
  if (value.is_array()) {
    for (const json::value& id : value.get_array()) {
      if (!id.is_int64() || id.get_int64() < 0 || id.get_int64() >= kVocabSize) {
        return invalid_argument("An output holds something that is no token id.");
      }
      ids.push_back(static_cast<TokenId>(id.get_int64()));
    }
    return ids;
  }
  return invalid_argument("An output is a string or an array of token ids.");
}

// False when the line is no order.
bool obey(const std::string& line, FakeEngine& engine) {
  const Result<json::value> value = parse_json(line, "the line");
  const json::object* order = value ? value->if_object() : nullptr;
  const json::value* steps = order == nullptr ? nullptr : order->if_contains("steps");
  if (steps == nullptr) {
    return false;
  }
  if (steps->is_int64()) {
    engine.allow_steps(static_cast<int>(steps->get_int64()));
  } else {
    engine.release();
  }
  return true;
}

Result<void> serve(ServerConfig config, const std::string& chat_template) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, builtin_o200k_harmony());
  ChatTemplates templates;
  templates.what = "the TEMPLATE";
  templates.standard = chat_template;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ChatFormat> format,
      make_chat_format(chat_template.empty() ? "harmony" : "jinja", *tokenizer, templates)
  );
  OutputQueue outputs;
  FakeEngine engine;
  engine.set_size(kVocabSize, kMaxModelLen);
  engine.set_script([&outputs](const Request&, int) { return outputs.pop(); });
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Server> server,
      Server::start(std::move(config), engine, tokenizer.get(), format.get())
  );
  std::string line;
  while (std::getline(std::cin, line)) {
    if (obey(line, engine)) {
      std::cout << outputs.size() << std::endl;
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<TokenId> output, parse_output(line, *tokenizer));
    std::cout << outputs.push(std::move(output)) << std::endl;
  }
  server->stop();
  return {};
}

}  // namespace

}  // namespace rapt

int main(int argc, char** argv) {
  rapt::ServerConfig config;
  config.port = 0;
  config.served_model_names = {"demo"};
  config.conversation_date = "2025-06-28";
  if (argc > 1 && *argv[1] != '\0') {
    config.api_keys = {argv[1]};
  }
  if (argc > 2) {
    config.port = std::atoi(argv[2]);
  }
  const rapt::Result<void> result = rapt::serve(std::move(config), argc > 3 ? argv[3] : "");
  if (!result) {
    std::fprintf(stderr, "scripted_server: %s\n", result.error().message.c_str());
    return 1;
  }
  return 0;
}
