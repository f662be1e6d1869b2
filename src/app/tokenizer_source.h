#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace rapt {

// The tokenizer inside the checkpoint's GGUF file, or its tokenizer.json, or the built-in tokenizer
// for a model that has gpt-oss's vocabulary; null when there is none of them.
Result<std::unique_ptr<Tokenizer>> load_model_tokenizer(
    const std::string& path, const ModelInfo& info
);

// Ends of a turn that a GGUF file leaves unsaid, of a model that is not gpt-oss: those that its
// tokenizer names. None for other checkpoints, whose generation_config.json has the list.
Result<std::vector<TokenId>> find_unsaid_ends(
    const std::string& path, const ModelInfo& info, const Tokenizer& tokenizer
);

// The tokenizer that a user names where no model is needed: the word o200k_harmony (the built-in
// one), a tokenizer.json, a GGUF file, a folder that holds one of them, or a model as `rapt serve`
// takes it.
Result<std::unique_ptr<Tokenizer>> load_named_tokenizer(const std::string& name);

}  // namespace rapt
