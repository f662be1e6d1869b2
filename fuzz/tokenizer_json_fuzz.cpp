// Any bytes as a tokenizer.json. What is accepted must encode text without control tokens, but for
// the one that the file itself names for unknown text.

#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "fuzz_target.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = rapt::parse_tokenizer_json(text, "the input");
  if (!tokenizer) {
    CHECK(!tokenizer.error().message.empty(), "an error without a message");
    return 0;
  }
  const rapt::json::value root = *rapt::parse_json(text, "the input");
  const auto* unknown_name = root.at("model").as_object().if_contains("unk_token");
  const std::string_view unknown = unknown_name != nullptr && unknown_name->is_string()
                                       ? std::string_view(unknown_name->get_string())
                                       : std::string_view();
  constexpr std::string_view kSample = "It's  12345 words,\n\n e\xCC\x81 <|end|> <think>\xFF ";
  for (const std::string_view sample : {kSample, text.substr(size - size % 64)}) {
    for (const rapt::TokenId id : (*tokenizer)->encode(sample)) {
      CHECK(
          !(*tokenizer)->is_special(id) || (*tokenizer)->token_bytes(id) == unknown,
          "plain text made the control token ",
          id
      );
      CHECK(!(*tokenizer)->token_bytes(id).empty(), "token ", id, " has no bytes");
    }
    for (const rapt::TokenId id : (*tokenizer)->encode_prompt(sample)) {
      CHECK(id >= 0, "no id: ", id);
    }
    for (const rapt::TokenId id : (*tokenizer)->encode_with_special(sample)) {
      CHECK(!(*tokenizer)->token_bytes(id).empty(), "token ", id, " has no bytes");
    }
  }
  return 0;
}
