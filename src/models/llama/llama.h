#pragma once

#include <memory>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

// Llama 2 and 3 and whatever has their shape (SmolLM2, Mistral without a window), from Hugging
// Face's layout or GGUF. README.md beside this file has the peculiarities.
Result<std::unique_ptr<Model>> load_llama(CheckpointDir checkpoint);

}  // namespace rapt
