// Any bytes as text, through the tokenizer of gpt-oss, through a small one with a normalizer and
// added tokens of every kind, and through two of SentencePiece's kind.

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
#include "text/gguf_tokenizer.h"
#include "text/tokenizer.h"
#include "text/utf8_internal.h"

namespace {

using rapt::Tokenizer;

rapt::json::value load_vectors(const std::string& name) {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/tokenizer/" + name);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return *rapt::parse_json(text, name);
}

std::unique_ptr<Tokenizer> load_json(const std::string& name) {
  const rapt::json::value vectors = load_vectors(name);
  return *rapt::parse_tokenizer_json(rapt::to_json_text(vectors.at("tokenizer")), name);
}

std::unique_ptr<Tokenizer> load_pieces(const std::string& name) {
  const rapt::json::value vectors = load_vectors(name);
  rapt::GgufTokenizerParts parts;
  parts.model = "llama";
  for (const rapt::json::value& token : vectors.at("tokens").as_array()) {
    parts.tokens.push_back(token.as_string());
    parts.token_types.push_back(
        vectors.at("token_types").as_array()[parts.token_types.size()].as_int64()
    );
    parts.scores.push_back(vectors.at("scores").as_array()[parts.scores.size()].to_number<double>()
    );
  }
  return *rapt::make_gguf_tokenizer(parts, name);
}

// What is left of a text that has been through a tokenizer with marks for blanks.
std::string with_blanks_for_marks(std::string text) {
  constexpr std::string_view kMark = "\u2581";
  for (std::size_t pos = text.find(kMark); pos != std::string::npos; pos = text.find(kMark, pos)) {
    text.replace(pos, kMark.size(), " ");
  }
  return text;
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
  static const std::unique_ptr<Tokenizer> flagged = load_json("tiny_added.json");
  static const std::unique_ptr<Tokenizer> pieces = load_pieces("pieces_scores.json");
  static const std::unique_ptr<Tokenizer> across = load_pieces("pieces_across.json");
  static const std::unique_ptr<Tokenizer> listed = load_json("pieces_first.json");
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

  const std::string blanks = with_blanks_for_marks(valid);
  for (const Tokenizer* tokenizer : {pieces.get(), across.get()}) {
    const auto piece_ids = tokenizer->encode(text);
    check_no_special(*tokenizer, piece_ids);
    CHECK(rapt::text_of_tokens(*tokenizer, piece_ids) == blanks, "the tokens are not the text");
  }
  check_no_special(*listed, listed->encode(text));
  CHECK(
      rapt::is_valid_utf8(decode(*listed, listed->encode_with_special(text))),
      "decoding gave invalid UTF-8"
  );
  return 0;
}
