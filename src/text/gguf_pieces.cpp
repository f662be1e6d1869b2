#include <cmath>
#include <utility>

#include "text/bpe_tokenizer_internal.h"
#include "text/gguf_parts_internal.h"
#include "text/piece_model_internal.h"
#include "text/piece_names_internal.h"

// SentencePiece's BPE as GGUF files have it: pieces with scores.

namespace rapt {

namespace {

// As SentencePiece numbers them when nobody asks for something else.
constexpr std::int64_t kDefaultBosId = 1;

class PiecesReader {
 public:
  explicit PiecesReader(const GgufPartsView& view) : view_(view), parts_(view.parts()) {}

  Result<std::unique_ptr<Tokenizer>> read();

 private:
  Result<void> read_scores();
  Result<void> read_token(std::size_t id);
  Result<void> read_byte(std::size_t id);
  Result<void> read_unknown();

  bool is_byte(std::size_t id) const {
    // Files without types have the names alone.
    return view_.type_of(id) == kGgufByte ||
           (parts_.token_types.empty() && byte_of_piece(parts_.tokens[id]));
  }

  const GgufPartsView& view_;
  const GgufTokenizerParts& parts_;
  std::vector<float> scores_;
  std::string arena_;  // the pieces that text is made of
  std::vector<std::uint32_t> lengths_;
  std::vector<bool> is_unused_;
  bool has_unused_ = false;
  std::vector<std::string> bytes_;
  std::vector<AddedToken> added_tokens_;
  PieceMerger::Unknown unknown_;
};

Result<void> PiecesReader::read_scores() {
  if (parts_.scores.size() != view_.num_tokens()) {
    return view_.error(
        "\"tokenizer.ggml.scores\" has " + std::to_string(parts_.scores.size()) + " entries for " +
        std::to_string(view_.num_tokens()) + " tokens; a SentencePiece tokenizer needs a score each"
    );
  }
  for (const double score : parts_.scores) {
    if (std::isnan(score)) {
      return view_.error(
          "\"tokenizer.ggml.scores\" gives token " + std::to_string(scores_.size()) +
          " a score that is no number"
      );
    }
    scores_.push_back(static_cast<float>(score));
  }
  return {};
}

Result<void> PiecesReader::read_byte(std::size_t id) {
  const auto byte = byte_of_piece(parts_.tokens[id]);
  if (!byte) {
    return view_.error(
        "token " + std::to_string(id) + " is a single byte, but its name is no \"<0x41>\""
    );
  }
  unknown_.byte_ids[*byte] = static_cast<TokenId>(id);
  bytes_[id] = static_cast<char>(*byte);
  return {};
}

Result<void> PiecesReader::read_token(std::size_t id) {
  using InText = AddedToken::InText;
  const std::string_view name = parts_.tokens[id];
  if (is_byte(id)) {
    return read_byte(id);
  }
  switch (view_.type_of(id)) {
    case kGgufControl:
    case kGgufUnknown:
      added_tokens_.push_back({.id = static_cast<TokenId>(id), .name = std::string(name)});
      break;
    case kGgufUserDefined: {
      // Looked for in the text as it is written, before blanks become marks.
      bytes_[id] = with_blanks(name);
      added_tokens_.push_back(
          {.id = static_cast<TokenId>(id), .name = bytes_[id], .in_text = InText::kAlways}
      );
      break;
    }
    default:
      bytes_[id] = with_blanks(name);
      arena_ += name;
      lengths_[id] = static_cast<std::uint32_t>(name.size());
      is_unused_[id] = view_.type_of(id) == kGgufUnused;
      has_unused_ = has_unused_ || is_unused_[id];
  }
  return {};
}

Result<void> PiecesReader::read_unknown() {
  if (parts_.unknown_id.value_or(kNoToken) == kNoToken) {
    for (std::size_t id = 0; id < view_.num_tokens() && unknown_.id == kNoToken; ++id) {
      unknown_.id = view_.type_of(id) == kGgufUnknown ? static_cast<TokenId>(id) : kNoToken;
    }
    return {};
  }
  if (*parts_.unknown_id < 0 ||
      *parts_.unknown_id >= static_cast<std::int64_t>(view_.num_tokens())) {
    return view_.error(
        "\"tokenizer.ggml.unknown_token_id\" is " + std::to_string(*parts_.unknown_id) +
        "; expected the id of one of the " + std::to_string(view_.num_tokens()) + " tokens"
    );
  }
  unknown_.id = static_cast<TokenId>(*parts_.unknown_id);
  return {};
}

Result<std::unique_ptr<Tokenizer>> PiecesReader::read() {
  RETURN_IF_ERROR(read_scores());
  const std::size_t num_tokens = view_.num_tokens();
  std::size_t num_bytes = 0;
  for (const std::string_view token : parts_.tokens) {
    num_bytes += token.size();
  }
  if (num_bytes > UINT32_MAX) {
    return view_.error("\"tokenizer.ggml.tokens\" has more than 4 GiB of text");
  }
  lengths_.resize(num_tokens);
  is_unused_.resize(num_tokens);
  bytes_.resize(num_tokens);
  for (std::size_t id = 0; id < num_tokens; ++id) {
    RETURN_IF_ERROR(read_token(id));
  }
  RETURN_IF_ERROR(read_unknown());
  ASSIGN_OR_RETURN(PromptFrame frame, view_.read_frame(true, kDefaultBosId));
  const bool has_prefix = parts_.add_space_prefix.value_or(true);
  PieceMerger merger(
      Vocabulary(std::move(arena_), lengths_),
      scores_,
      has_unused_ ? std::move(is_unused_) : std::vector<bool>(),
      unknown_
  );
  using Prefix = BlankRules::Prefix;
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
      std::make_unique<PieceModel>(
          std::move(merger),
          std::move(bytes_),
          BlankRules{.prefix = has_prefix ? Prefix::kAlways : Prefix::kNone}
      ),
      std::move(added_tokens_),
      std::move(frame),
      has_prefix
  ));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_gguf_pieces(const GgufPartsView& view) {
  return PiecesReader(view).read();
}

}  // namespace rapt
