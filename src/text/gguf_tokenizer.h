#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace rapt {

// What a GGUF file says of its tokenizer: the values of its keys "tokenizer.ggml.*", as views of
// the file. Needed only while the tokenizer is made.
struct GgufTokenizerParts {
  std::string_view model;                // "gpt2" is byte-level BPE
  std::string_view pre;                  // which split: "gpt-4o", "llama-bpe", ...
  std::vector<std::string_view> tokens;  // by id, in the byte-level alphabet
  // By id: 1 normal, 3 control, 4 defined by the user, 5 unused; empty: all are normal.
  std::vector<std::int64_t> token_types;
  std::vector<std::string_view> merges;  // "left right", best first
};

// Makes the tokenizer of a GGUF file, which `what` names in errors. The tokenizer of gpt-oss, when
// its vocabulary is complete, is the built-in one.
Result<std::unique_ptr<Tokenizer>> make_gguf_tokenizer(
    const GgufTokenizerParts& parts, const std::string& what
);

}  // namespace rapt
