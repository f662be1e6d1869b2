#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

struct LlamaConfig;

// Llama 2 and 3 and whatever has their shape (SmolLM2, Mistral without a window), from Hugging
// Face's layout or GGUF. README.md beside this file has the peculiarities.
Result<std::unique_ptr<Model>> load_llama(CheckpointDir checkpoint);

// What its attention needs, from its shape, a config.json (`what` names it in errors) or a GGUF
// file; the model's name is left to the caller.
AttentionModel llama_attention_needs(const LlamaConfig& config);
Result<AttentionModel> llama_attention_of_json(const json::value& config, std::string_view what);
Result<AttentionModel> llama_attention_of_gguf(const CheckpointDir& checkpoint);

}  // namespace rapt
