// Any bytes as the body of a chat request, and as a conversation in Harmony's own JSON. What is
// accepted must render, or be refused in words.

#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "fuzz_target.h"
#include "server/api/openai/chat_request_internal.h"
#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_lines.h"

namespace {

using namespace rapt;

void check_has_message(const Error& error) {
  CHECK(!error.message.empty(), "an error without a message");
  CHECK(error.code == ErrorCode::kInvalidArgument, "not the caller's fault: ", error.message);
}

void render_chat(const ChatFormat& format, const json::value& body) {
  const auto request = openai::parse_chat_request(body);
  if (!request) {
    check_has_message(request.error());
    return;
  }
  const auto prompt = format.render(request->messages, request->options);
  if (!prompt) {
    check_has_message(prompt.error());
    return;
  }
  CHECK(!prompt->empty(), "an empty prompt");
  const auto make_constraint = format.make_constraint(request->options);
  if (make_constraint) {
    CHECK(make_constraint() != nullptr, "no constraint was made");
  }
  format.make_parser(request->options, "seed")->finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<Tokenizer> tokenizer = *builtin_o200k_harmony();
  static const std::unique_ptr<ChatFormat> format = *make_chat_format("harmony", *tokenizer);
  static const std::unique_ptr<HarmonyLines> lines = *make_harmony_lines(*tokenizer);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto body = parse_json(text, "The request body");
  if (!body) {
    check_has_message(body.error());
    return 0;
  }
  render_chat(*format, *body);
  if (const auto ids = lines->render(*body); !ids) {
    check_has_message(ids.error());
  }
  if (const auto messages = lines->parse(*body, false); !messages) {
    check_has_message(messages.error());
  }
  return 0;
}
