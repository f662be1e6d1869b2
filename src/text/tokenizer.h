#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/request.h"

namespace rapt {

// Bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Tokens that a model's files want around every text that it is given to complete.
struct PromptFrame {
  std::vector<TokenId> begin;  // most often BOS, or nothing
  std::vector<TokenId> end;    // most often nothing
};

// Text to token ids and back. Immutable after construction, so one object serves all threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Text (UTF-8; invalid bytes become U+FFFD) to ids. Special tokens that `text` spells out stay
  // ordinary text: nothing a user writes can produce a control token. What the vocabulary has no
  // token for (single bytes, in some) is left out, or becomes the token for unknown text of those
  // that have one.
  virtual std::vector<TokenId> encode(std::string_view text) const = 0;
  // The same, but spelled-out special tokens become their ids. Only for callers that say so
  // (text completions, as vLLM does).
  virtual std::vector<TokenId> encode_with_special(std::string_view text) const = 0;
  // Text of several hands: special tokens become their ids where all of their bytes lie in one of
  // `trusted` (in order and apart), and stay ordinary text elsewhere. For chat templates, which
  // write control tokens around what users wrote.
  virtual std::vector<TokenId> encode_with_special_in(
      std::string_view text, std::span<const TextRange> trusted
  ) const;
  // A whole text to complete, as vLLM makes it: encode_with_special() between the tokens of
  // prompt_frame(), without those that the text spells out itself.
  std::vector<TokenId> encode_prompt(std::string_view text) const;

  virtual PromptFrame prompt_frame() const { return {}; }

  // Whether encode() begins a text with a blank of its own, as if a word began there. What ids
  // stand for that begin a text is to lose it again.
  virtual bool adds_blank() const { return false; }

  // The bytes of one token; a special token gives its name, an id nobody knows gives "".
  virtual std::string_view token_bytes(TokenId id) const = 0;
  virtual bool is_special(TokenId id) const = 0;
  virtual std::optional<TokenId> special_id(std::string_view name) const = 0;
  // One more than the highest id that has a name. The model's vocabulary may be larger.
  virtual int vocab_size() const = 0;
};

// Reads `tokenizer.json` (Hugging Face; BPE, byte-level or SentencePiece's kind), and what the
// `tokenizer_config.json` at `config_path` says of BOS and EOS; "" when there is none.
Result<std::unique_ptr<Tokenizer>> load_tokenizer_json(
    const std::string& path, const std::string& config_path = ""
);
// The same from the text of the first file, whose name `what` stands in errors.
Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(
    std::string_view text, const std::string& what
);
// o200k_harmony, the tokenizer of gpt-oss, from the copy inside this binary.
Result<std::unique_ptr<Tokenizer>> builtin_o200k_harmony();

}  // namespace rapt
