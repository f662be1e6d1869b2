#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace rapt {

// The checkpoint's own tokenizer.json, or the built-in tokenizer for a model that has gpt-oss's
// vocabulary; null when there is neither.
Result<std::unique_ptr<Tokenizer>> load_model_tokenizer(
    const std::string& folder, const ModelInfo& info
);

// The tokenizer that a user names where no model is needed: the word o200k_harmony (the built-in
// one), a tokenizer.json, a folder that holds one, or a model as `rapt serve` takes it.
Result<std::unique_ptr<Tokenizer>> load_named_tokenizer(const std::string& name);

}  // namespace rapt
