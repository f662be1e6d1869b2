// Any bytes as text, through the tokenizer of gpt-oss and through a small one with a normalizer and
// added tokens of every kind.

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "fuzz_target.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/utf8_internal.h"

namespace {

using rapt::Tokenizer;

std::unique_ptr<Tokenizer> load_flagged() {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/tokenizer/tiny_added.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const rapt::json::value vectors = *rapt::parse_json(text, "tiny_added.json");
  return *rapt::parse_tokenizer_json(
      rapt::to_json_text(vectors.at("tokenizer")), "tiny_added.json"
  );
}

std::string decode(const Tokenizer& tokenizer, const std::vector<rapt::TokenId>& ids) {
  rapt::Detokenizer detokenizer(tokenizer, true);
  std::string text;
  for (const rapt::TokenId id : ids) {
    text += detokenizer.push(id);
  }
  return text + detokenizer.finish();
}

void check_no_special(const Tokenizer& tokenizer, const std::vector<rapt::TokenId>& ids) {
  for (const rapt::TokenId id : ids) {
    CHECK(!tokenizer.is_special(id), "plain text made the control token ", id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<Tokenizer> o200k = *rapt::builtin_o200k_harmony();
  static const std::unique_ptr<Tokenizer> flagged = load_flagged();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string valid = rapt::to_valid_utf8(text);

  const auto ids = o200k->encode(text);
  check_no_special(*o200k, ids);
  CHECK(decode(*o200k, ids) == valid, "the tokens are not the text");
  CHECK(decode(*o200k, o200k->encode_with_special(text)) == valid, "the tokens are not the text");

  // This one changes the text, so that only what it makes of it can be held against it.
  const auto flagged_ids = flagged->encode(text);
  check_no_special(*flagged, flagged_ids);
  CHECK(rapt::is_valid_utf8(decode(*flagged, flagged_ids)), "decoding gave invalid UTF-8");
  CHECK(
      rapt::is_valid_utf8(decode(*flagged, flagged->encode_with_special(text))),
      "decoding gave invalid UTF-8"
  );
  return 0;
}
