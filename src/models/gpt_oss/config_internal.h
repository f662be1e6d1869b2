#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "checkpoint/config_fields.h"
#include "models/gpt_oss/config.h"

namespace rapt {

inline constexpr ConfigFields::IntRange kPositions{1, std::numeric_limits<std::int32_t>::max()};
inline constexpr ConfigFields::NumberRange kPositive{1e-6, 1e6};

// The rotary embedding, as a Hugging Face config.json states it: `rope_scaling` and `rope_theta`,
// or `rope_parameters` with both inside.
Result<GptOssConfig::Rope> parse_hugging_face_rope(
    ConfigFields& fields, std::int64_t max_position_embeddings
);

// The same as OpenAI's original config.json states it.
Result<GptOssConfig::Rope> parse_original_rope(ConfigFields& fields);

}  // namespace rapt
