#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "checkpoint/config_fields.h"
#include "models/llama/config.h"

namespace rapt::llama {

// Far above any published model, and low enough that the number of parameters fits 64 bits.
inline constexpr ConfigFields::IntRange kLayers{1, 1024};
inline constexpr ConfigFields::IntRange kWidths{1, 1 << 18};
inline constexpr ConfigFields::IntRange kHeads{1, 4096};
inline constexpr ConfigFields::IntRange kHeadDims{2, 1024};
inline constexpr ConfigFields::IntRange kVocabulary{1, 1 << 24};
inline constexpr ConfigFields::IntRange kPositions{1, std::numeric_limits<std::int32_t>::max()};
inline constexpr ConfigFields::NumberRange kEpsilons{1e-12, 1.0};
inline constexpr ConfigFields::NumberRange kThetas{2.0, 1e15};
inline constexpr ConfigFields::NumberRange kFactors{1.0, 1e6};
inline constexpr ConfigFields::NumberRange kPositive{1e-6, 1e6};

// What holds where a config does not say.
inline constexpr double kDefaultTheta = 10000.0;

// Checks what a config states of the heads, under its own names for them.
Result<void> check_heads(
    const LlamaConfig& config,
    const ConfigFields& fields,
    std::string_view kv_heads_name,
    std::string_view head_dim_name
);

}  // namespace rapt::llama
