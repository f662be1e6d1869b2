#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "models/model.h"

namespace rapt {

// OpenAI's gpt-oss (20b, 120b and whatever has their shape), from Hugging Face's layout, OpenAI's
// `original` one, de-quantised re-uploads, or GGUF. README.md beside this file has its
// peculiarities.
Result<std::unique_ptr<Model>> load_gpt_oss(CheckpointDir checkpoint);

// What its attention needs, from a config.json (`what` names it in errors) or a GGUF file; the
// model's name is left to the caller.
Result<AttentionModel> gpt_oss_attention_of_json(const json::value& config, std::string_view what);
Result<AttentionModel> gpt_oss_attention_of_gguf(const CheckpointDir& checkpoint);

}  // namespace rapt
