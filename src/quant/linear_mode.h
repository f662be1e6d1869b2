#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rapt {

// What weights in blocks (MXFP4, Q8_0 and the like) are multiplied with; part of what names a
// result (docs/NUMERICS.md). Float weights (BF16, F16, F32) take fp32 activations in every mode.
enum class LinearMode {
  kI16,  // activations as int16, one scale per 32 inputs: forty times finer than bf16
  kI8,   // activations as int8, one scale per 32 inputs: the fastest
  kF32,  // activations as they are, weights decoded to fp32
};

inline constexpr std::array kLinearModes = {LinearMode::kI16, LinearMode::kI8, LinearMode::kF32};

constexpr std::string_view name_of(LinearMode mode) {
  switch (mode) {
    case LinearMode::kI16:
      return "i16";
    case LinearMode::kI8:
      return "i8";
    case LinearMode::kF32:
      return "f32";
  }
  return "?";
}

// The mode of that name, if there is one.
constexpr std::optional<LinearMode> find_linear_mode(std::string_view name) {
  for (const LinearMode mode : kLinearModes) {
    if (name == name_of(mode)) {
      return mode;
    }
  }
  return std::nullopt;
}

}  // namespace rapt
