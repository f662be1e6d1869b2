#pragma once

#include "models/gpt_oss/config.h"
#include "models/model.h"

namespace rapt {

// Fills in what `info` says of the architecture: names, sizes, counts, and the list for people.
void describe_gpt_oss(const GptOssConfig& config, ModelInfo& info);

}  // namespace rapt
