// Any text as a chat template, rendered with variables of all kinds, and its output as an answer to
// read. Input that begins with '!' is an answer only, read in every style.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "fuzz_target.h"
#include "text/chat/jinja/jinja_chat_parser_internal.h"
#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/template_internal.h"
#include "text/utf8_internal.h"

namespace {

using namespace rapt;
using namespace rapt::jinja;

// Small, so that a fuzzer's loops end quickly.
constexpr Limits kLimits = {.max_steps = 30'000, .max_depth = 300};

constexpr std::string_view kVariables = R"({
  "messages": [
    {"role": "system", "content": "S <|end|>"},
    {"role": "user", "content": "Grüße,\n 日本 \"x\" 'y' \\ %s {}"},
    {"role": "assistant", "content": "", "tool_calls": [
      {"id": "abcdefghi", "type": "function",
       "function": {"name": "f", "arguments": {"a": [1, 2.5, null, true], "b": {}}}}]},
    {"role": "tool", "content": "{\"t\": 1}", "tool_call_id": "abcdefghi", "name": "f"}
  ],
  "tools": [{"type": "function", "function": {"name": "f", "description": "d",
             "parameters": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>",
  "x": "text", "n": -7, "big": 18446744073709551615, "ratio": 1e-7, "none_value": null,
  "list": [3, "b", null, [1], {"k": "v"}], "words": ["b", "A", "", "ß"], "empty": {}
})";

// Bytes that are tokens of their own, and two control tokens.
class ByteTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId kEnd = 256;
  static constexpr TokenId kThink = 257;

  ByteTokenizer() {
    for (int byte = 0; byte < 256; ++byte) {
      names_[static_cast<std::size_t>(byte)] = std::string(1, static_cast<char>(byte));
    }
    names_[kEnd] = "<|end|>";
    names_[kThink] = "<think>";
  }

  std::vector<TokenId> encode(std::string_view text) const override {
    std::vector<TokenId> ids;
    for (const char byte : text) {
      ids.push_back(static_cast<unsigned char>(byte));
    }
    return ids;
  }

  std::vector<TokenId> encode_with_special(std::string_view text) const override {
    const TextRange all = {0, text.size()};
    return encode_with_special_in(text, {&all, 1});
  }

  std::string_view token_bytes(TokenId id) const override {
    return id >= 0 && id < vocab_size() ? std::string_view(names_[static_cast<std::size_t>(id)])
                                        : std::string_view();
  }

  bool is_special(TokenId id) const override { return id >= kEnd && id < vocab_size(); }

  std::optional<TokenId> special_id(std::string_view name) const override {
    for (TokenId id = kEnd; id < vocab_size(); ++id) {
      if (name == names_[static_cast<std::size_t>(id)]) {
        return id;
      }
    }
    return std::nullopt;
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }

 private:
  std::array<std::string, 258> names_;
};

const Tokenizer& tokenizer() {
  static const ByteTokenizer made;
  return made;
}

const Dict& variables() {
  static const Value made = value_of(parse_json(kVariables, "variables").value(), Origin::kData);
  return made.as_dict();
}

// No control token may come of what the variables say: none of them is in the template's bytes.
void check_output(const MarkedText& text) {
  CHECK(is_valid_utf8(text.bytes()), "the output is invalid UTF-8");
  std::size_t end = 0;
  for (const TextRange& range : text.template_ranges()) {
    CHECK(range.begin >= end && range.begin < range.end, "ranges are out of order");
    end = range.end;
  }
  CHECK(end <= text.size(), "a range reaches behind the text");
  const std::vector<TokenId> ids =
      tokenizer().encode_with_special_in(text.bytes(), text.template_ranges());
  std::string bytes;
  for (const TokenId id : ids) {
    bytes += tokenizer().token_bytes(id);
  }
  CHECK(bytes == text.bytes(), "the tokens are not the text");
}

void read_answer(const std::string& answer) {
  for (const CallStyle style :
       {CallStyle::kNone, CallStyle::kTagged, CallStyle::kMistral, CallStyle::kBareJson}) {
    for (const bool begins_thinking : {false, true}) {
      JinjaChatParser parser(
          tokenizer(),
          {.style = {.has_thinking = true, .calls = style},
           .begins_thinking = begins_thinking,
           .tool_names = {"f", "g"}}
      );
      std::vector<ToolCall> calls;
      const auto take = [&](const ChatDelta& delta) {
        CHECK(is_valid_utf8(delta.reasoning), "reasoning is invalid UTF-8");
        CHECK(is_valid_utf8(delta.content), "content is invalid UTF-8");
        for (const ToolCallDelta& call : delta.tool_calls) {
          CHECK(is_valid_utf8(call.arguments), "arguments are invalid UTF-8");
        }
        add_deltas(calls, delta.tool_calls);
      };
      for (const TokenId token : tokenizer().encode_with_special(answer)) {
        take(parser.push(token));
      }
      take(parser.finish());
      CHECK(parser.num_tool_calls() == static_cast<int>(calls.size()), "calls are lost");
      for (const ToolCall& call : calls) {
        CHECK(call.name == "f" || call.name == "g", "undeclared tool '", call.name, "'");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('!')) {
    read_answer(std::string(input.substr(1)));
    return 0;
  }
  const Result<Template> compiled = Template::compile(input);
  if (!compiled) {
    CHECK(compiled.error().message.starts_with("line "), compiled.error().message);
    return 0;
  }
  const Result<MarkedText> text =
      compiled->render(variables(), {.date = "2025-07-04", .limits = kLimits});
  if (!text) {
    CHECK(text.error().message.starts_with("line "), text.error().message);
    return 0;
  }
  check_output(*text);
  return 0;
}
