#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/added_tokens_internal.h"
#include "text/gguf_tokenizer.h"

namespace rapt {

// Token types, as llama.cpp numbers them.
inline constexpr std::int64_t kGgufNormal = 1;
inline constexpr std::int64_t kGgufUnknown = 2;
inline constexpr std::int64_t kGgufControl = 3;
inline constexpr std::int64_t kGgufUserDefined = 4;
inline constexpr std::int64_t kGgufUnused = 5;
inline constexpr std::int64_t kGgufByte = 6;

// A GGUF file's tokenizer whose counts and types have been checked, with what readers of all kinds
// ask. A view of both, which must outlive it.
class GgufPartsView {
 public:
  static Result<GgufPartsView> of(const GgufTokenizerParts& parts, const std::string& what);

  const GgufTokenizerParts& parts() const { return *parts_; }

  std::size_t num_tokens() const { return parts_->tokens.size(); }

  std::int64_t type_of(std::size_t id) const {
    return parts_->token_types.empty() ? kGgufNormal : parts_->token_types[id];
  }

  Error error(const std::string& problem) const { return bad_file(*what_ + ": " + problem); }

  // What stands around a prompt, when the file does not say whether BOS does, or which it is.
  Result<PromptFrame> read_frame(bool adds_bos, std::optional<std::int64_t> bos_id) const;

 private:
  GgufPartsView(const GgufTokenizerParts& parts, const std::string& what)
      : parts_(&parts), what_(&what) {}

  Result<std::vector<TokenId>> read_frame_token(
      std::string_view key, bool is_added, std::optional<std::int64_t> id
  ) const;

  const GgufTokenizerParts* parts_;
  const std::string* what_;
};

Result<std::unique_ptr<Tokenizer>> make_gguf_byte_level(const GgufPartsView& view);
Result<std::unique_ptr<Tokenizer>> make_gguf_pieces(const GgufPartsView& view);

}  // namespace rapt
