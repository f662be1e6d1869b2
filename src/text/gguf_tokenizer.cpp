#include "text/gguf_tokenizer.h"

#include "text/gguf_parts_internal.h"
#include "text/known_patterns_internal.h"
#include "text/utf8_internal.h"
#include "text/vocabulary_internal.h"

namespace rapt {

Result<GgufPartsView> GgufPartsView::of(const GgufTokenizerParts& parts, const std::string& what) {
  GgufPartsView view(parts, what);
  const std::size_t num_tokens = parts.tokens.size();
  if (num_tokens == 0 || num_tokens > static_cast<std::size_t>(kMaxTokenId)) {
    return view.error(
        "\"tokenizer.ggml.tokens\" has " + std::to_string(num_tokens) + " tokens; expected 1 to " +
        std::to_string(kMaxTokenId)
    );
  }
  const std::size_t num_types = parts.token_types.size();
  if (num_types != 0 && num_types != num_tokens) {
    return view.error(
        "\"tokenizer.ggml.token_type\" has " + std::to_string(num_types) + " entries for " +
        std::to_string(num_tokens) + " tokens"
    );
  }
  for (std::size_t id = 0; id < num_types; ++id) {
    const std::int64_t type = parts.token_types[id];
    if (type < 0 || type > kGgufByte) {
      return view.error(
          "\"tokenizer.ggml.token_type\" gives token " + std::to_string(id) + " the type " +
          std::to_string(type) + "; expected 1 to " + std::to_string(kGgufByte)
      );
    }
    const bool needs_name = type == kGgufControl || type == kGgufUserDefined ||
                            type == kGgufUnused || type == kGgufUnknown;
    if (parts.tokens[id].empty() && needs_name) {
      return view.error("token " + std::to_string(id) + " has no name, though it is no plain text");
    }
    // Texts are cut at such names, and must not be cut inside a character.
    if (needs_name && !is_valid_utf8(parts.tokens[id])) {
      return view.error(
          "token " + std::to_string(id) + " is no plain text and has a name that is not UTF-8"
      );
    }
  }
  return view;
}

Result<std::vector<TokenId>> GgufPartsView::read_frame_token(
    std::string_view key, bool is_added, std::optional<std::int64_t> id
) const {
  if (!is_added || !id || *id == kNoToken) {
    return std::vector<TokenId>();
  }
  if (*id < 0 || *id >= static_cast<std::int64_t>(num_tokens())) {
    return error(
        "\"" + std::string(key) + "\" is " + std::to_string(*id) +
        "; expected the id of one of the " + std::to_string(num_tokens()) + " tokens"
    );
  }
  return std::vector{static_cast<TokenId>(*id)};
}

Result<PromptFrame> GgufPartsView::read_frame(bool adds_bos, std::optional<std::int64_t> bos_id)
    const {
  PromptFrame frame;
  ASSIGN_OR_RETURN(
      frame.begin,
      read_frame_token(
          "tokenizer.ggml.bos_token_id",
          parts_->add_bos.value_or(adds_bos),
          parts_->bos_id ? parts_->bos_id : bos_id
      )
  );
  ASSIGN_OR_RETURN(
      frame.end,
      read_frame_token(
          "tokenizer.ggml.eos_token_id", parts_->add_eos.value_or(false), parts_->eos_id
      )
  );
  return frame;
}

Result<std::unique_ptr<Tokenizer>> make_gguf_tokenizer(
    const GgufTokenizerParts& parts, const std::string& what
) {
  ASSIGN_OR_RETURN(const GgufPartsView view, GgufPartsView::of(parts, what));
  if (parts.model == "gpt2") {
    return make_gguf_byte_level(view);
  }
  if (parts.model == "llama") {
    return make_gguf_pieces(view);
  }
  return view.error(
      "\"tokenizer.ggml.model\" is \"" + std::string(parts.model) +
      "\"; only \"gpt2\", byte-level BPE, and \"llama\", SentencePiece's BPE, are supported"
  );
}

}  // namespace rapt
