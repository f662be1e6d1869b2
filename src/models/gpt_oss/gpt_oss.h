#pragma once

#include <memory>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

// OpenAI's gpt-oss (20b, 120b and whatever has their shape), from Hugging Face's layout, OpenAI's
// `original` one, de-quantised re-uploads, or GGUF. README.md beside this file has its
// peculiarities.
Result<std::unique_ptr<Model>> load_gpt_oss(CheckpointDir checkpoint);

}  // namespace rapt
