#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/added_tokens_internal.h"
#include "text/bpe_model_internal.h"
#include "text/merge_list_internal.h"
#include "text/tokenizer.h"

namespace rapt {

// nullptr when the key is absent or holds something else.
const json::object* find_object(const json::object& parent, std::string_view key);
const json::array* find_array(const json::object& parent, std::string_view key);
// "" likewise.
std::string_view string_or_empty(const json::object& parent, std::string_view key);
bool flag(const json::object& parent, std::string_view key, bool when_absent);
// Nothing unless it is an integer that may be an id.
std::optional<TokenId> token_id(const json::value* value);

// The tokens of model.vocab and the pairs of model.merges, as they are written. Views of the file.
struct JsonBpe {
  std::vector<std::string_view> tokens;  // by id; "" where the vocabulary has none
  std::vector<std::pair<std::string_view, std::string_view>> merges;
};

// A tokenizer.json that has been parsed. Every reader returns the first thing that is not as
// expected, as a sentence that names the file.
struct TokenizerJson {
  const std::string& path;
  const json::object& root;
  const json::object& model;
  std::vector<AddedToken> added_tokens;

  template <typename... Parts>
  Error error(const Parts&... parts) const {
    std::ostringstream out;
    out << path << ": ";
    (out << ... << parts);
    return bad_file(out.str());
  }

  // The steps of a pipeline: itself, or those of a Sequence, which lie under `list_key`.
  Result<std::vector<const json::object*>> read_steps(
      std::string_view key, std::string_view list_key
  ) const;
};

// Whether BPE is over bytes, rather than over characters with blanks as marks.
bool is_byte_level(const TokenizerJson& file);

// Also checks that added tokens and vocabulary give the same ids; those that plain text must not be
// made of are taken out.
Result<JsonBpe> read_bpe(const TokenizerJson& file);
// The pairs as ids of `vocabulary`. `decode` gives the bytes of a token's name; nothing when it has
// none.
Result<std::vector<MergeList::Merge>> resolve_merges(
    const TokenizerJson& file,
    const JsonBpe& bpe,
    const Vocabulary& vocabulary,
    std::optional<std::string> (*decode)(std::string_view name)
);

Result<std::unique_ptr<const BpeModel>> read_byte_level_model(const TokenizerJson& file);

struct PieceModelAndPrefix {
  std::unique_ptr<const BpeModel> model;
  bool adds_blank = false;
};

// SentencePiece's kind. May change what added tokens stand for.
Result<PieceModelAndPrefix> read_piece_model(TokenizerJson& file);

// What stands around a prompt: as tokenizer_config.json says it (`config`, may be null), else as
// the post-processor does.
Result<PromptFrame> read_prompt_frame(const TokenizerJson& file, const json::object* config);

}  // namespace rapt
