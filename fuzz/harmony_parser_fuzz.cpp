// Any row of tokens as the answer of a model. A byte of the input stands for a control token, a
// piece of a header or, with the two bytes behind it, any token at all.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "fuzz_target.h"
#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_lines.h"
#include "text/utf8_internal.h"

namespace {

using namespace rapt;

constexpr auto kPieces = std::to_array<std::string_view>(
    {"<|start|>",
     "<|end|>",
     "<|message|>",
     "<|channel|>",
     "<|constrain|>",
     "<|call|>",
     "<|return|>",
     "assistant",
     "analysis",
     "commentary",
     "final",
     " to=",
     "functions",
     ".",
     "get_weather",
     "functions.f",
     "python",
     " code",
     " json",
     "json",
     "user",
     "tool",
     "system",
     "developer",
     " ",
     "\n",
     "{\"a\":1}",
     "{",
     "text",
     "to=",
     "browser.",
     "search",
     ":",
     "<|endoftext|>",
     "comment",
     "ary",
     " to=functions.f",
     "assistant to=functions.get_weather",
     "<|start|>assistant<|channel|>",
     "<|channel|>final<|message|>"}
);

const Tokenizer& tokenizer() {
  static const std::unique_ptr<Tokenizer> made = *builtin_o200k_harmony();
  return *made;
}

std::vector<TokenId> tokens_of(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::vector<TokenId>> pieces = [] {
    std::vector<std::vector<TokenId>> made;
    for (const std::string_view piece : kPieces) {
      made.push_back(tokenizer().encode_with_special(piece));
    }
    return made;
  }();
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] < pieces.size()) {
      tokens.insert(tokens.end(), pieces[data[i]].begin(), pieces[data[i]].end());
    } else if (i + 2 < size) {
      tokens.push_back(static_cast<TokenId>((data[i] % 4U) << 16 | data[i + 1] << 8 | data[i + 2]));
      i += 2;
    }
  }
  return tokens;
}

ChatDelta parse_all(ChatParser& parser, const std::vector<TokenId>& tokens) {
  ChatDelta whole;
  std::vector<ToolCall> calls;
  const auto add = [&](const ChatDelta& delta) {
    whole.reasoning += delta.reasoning;
    whole.content += delta.content;
    for (const ToolCallDelta& call : delta.tool_calls) {
      CHECK(is_valid_utf8(call.arguments), "arguments are invalid UTF-8");
    }
    add_deltas(calls, delta.tool_calls);
  };
  for (const TokenId token : tokens) {
    add(parser.push(token));
  }
  add(parser.finish());
  for (const ToolCall& call : calls) {
    CHECK(call.name == "f" || call.name == "get_weather", "undeclared tool '", call.name, "'");
  }
  return whole;
}

json::value as_request(const std::vector<TokenId>& tokens, bool has_role) {
  json::object request = {{"tokens", json::array(tokens.begin(), tokens.end())}};
  if (!has_role) {
    request["role"] = nullptr;
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<ChatFormat> format = *make_chat_format("harmony", tokenizer());
  static const std::unique_ptr<HarmonyLines> lines = *make_harmony_lines(tokenizer());
  static const ChatOptions with_tools = [] {
    ChatOptions options;
    options.tools = {{"f"}, {"get_weather"}};
    return options;
  }();
  const std::vector<TokenId> tokens = tokens_of(data, size);
  for (const ChatOptions& options : {ChatOptions(), with_tools}) {
    const auto parser = format->make_parser(options, "seed");
    const ChatDelta whole = parse_all(*parser, tokens);
    CHECK(is_valid_utf8(whole.reasoning), "reasoning is invalid UTF-8");
    CHECK(is_valid_utf8(whole.content), "content is invalid UTF-8");
  }
  for (const bool has_role : {true, false}) {
    const json::value request = as_request(tokens, has_role);
    CHECK(lines->parse(request, false), "the tolerant parser refused tokens");
    static_cast<void>(lines->parse(request, true));
  }
  return 0;
}
