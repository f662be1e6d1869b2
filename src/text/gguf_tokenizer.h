#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace rapt {

// What a GGUF file says of its tokenizer: the values of its keys "tokenizer.ggml.*", as views of
// the file. Needed only while the tokenizer is made.
struct GgufTokenizerParts {
  std::string_view model;            // "gpt2" is byte-level BPE, "llama" SentencePiece's
  std::string_view pre = "default";  // which split, of byte-level BPE: "gpt-4o", "llama-bpe", ...
  std::vector<std::string_view>
      tokens;  // by id; in the byte-level alphabet, or with marks as blanks
  // By id: 1 normal, 2 unknown text, 3 control, 4 defined by the user, 5 unused, 6 a single byte;
  // empty: all are normal.
  std::vector<std::int64_t> token_types;
  std::vector<std::string_view> merges;  // "left right", best first; of byte-level BPE
  std::vector<double> scores = {};  // by id, high ones are joined first; of SentencePiece's BPE
  // Absent: what files of the model's kind that do not say it mean.
  std::optional<bool> add_bos = {};
  std::optional<bool> add_eos = {};
  std::optional<bool> add_space_prefix = {};
  // -1: the file says that there is none.
  std::optional<std::int64_t> bos_id = {};
  std::optional<std::int64_t> eos_id = {};
  std::optional<std::int64_t> unknown_id = {};
};

// Makes the tokenizer of a GGUF file, which `what` names in errors. The tokenizer of gpt-oss, when
// its vocabulary is complete, is the built-in one.
Result<std::unique_ptr<Tokenizer>> make_gguf_tokenizer(
    const GgufTokenizerParts& parts, const std::string& what
);

}  // namespace rapt
