#pragma once

#include <memory>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

struct LlamaConfig;

// Llama 2 and 3 and whatever has their shape (SmolLM2, Mistral without a window), from Hugging
// Face's layout or GGUF. README.md beside this file has the peculiarities.
Result<std::unique_ptr<Model>> load_llama(CheckpointDir checkpoint);

// What its attention needs; the model's name is left to the caller.
AttentionModel llama_attention_needs(const LlamaConfig& config);

}  // namespace rapt
