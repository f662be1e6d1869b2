#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "checkpoint/config_fields.h"
#include "models/gpt_oss/config.h"

namespace rapt {

// Far above any published model, and low enough that the number of parameters fits 64 bits.
inline constexpr ConfigFields::IntRange kLayers{1, 1024};
inline constexpr ConfigFields::IntRange kWidths{1, 1 << 17};
inline constexpr ConfigFields::IntRange kExperts{1, 4096};
inline constexpr ConfigFields::IntRange kHeads{1, 4096};
inline constexpr ConfigFields::IntRange kHeadDims{2, 4096};
inline constexpr ConfigFields::IntRange kVocabulary{1, 1 << 24};
inline constexpr ConfigFields::IntRange kPositions{1, std::numeric_limits<std::int32_t>::max()};
inline constexpr ConfigFields::NumberRange kEpsilons{1e-12, 1.0};
inline constexpr ConfigFields::NumberRange kPositive{1e-6, 1e6};
inline constexpr ConfigFields::NumberRange kThetas{2.0, 1e15};
inline constexpr ConfigFields::NumberRange kFactors{1.0, 1e6};

// What holds for the published models where a config does not say.
inline constexpr double kDefaultEpsilon = 1e-5;
inline constexpr double kDefaultSwigluLimit = 7.0;
inline constexpr double kDefaultSwigluAlpha = 1.702;
inline constexpr double kDefaultTheta = 150000.0;

// Makes the published model's end tokens the config's, if the vocabulary has them.
void add_own_end_tokens(GptOssConfig& config);

// The rotary embedding, as a Hugging Face config.json states it: `rope_scaling` and `rope_theta`,
// or `rope_parameters` with both inside.
Result<GptOssConfig::Rope> parse_hugging_face_rope(
    ConfigFields& fields, std::int64_t max_position_embeddings
);

// The same as OpenAI's original config.json states it.
Result<GptOssConfig::Rope> parse_original_rope(ConfigFields& fields);

}  // namespace rapt
