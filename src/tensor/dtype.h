#pragma once

#include <cstdint>
#include <string_view>

namespace rapt {

// Element types that tensors in memory and in checkpoint files may have. kF8E4M3 (sign, 4 bits of
// exponent with bias 7, 3 of fraction; no infinity) is known to the KV cache only.
enum class DType { kF32, kF16, kBF16, kU8, kI8, kI32, kI64, kF8E4M3 };

constexpr int size_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kU8:
    case DType::kI8:
    case DType::kF8E4M3:
      return 1;
    case DType::kI64:
      return 8;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kU8:
      return "U8";
    case DType::kI8:
      return "I8";
    case DType::kI32:
      return "I32";
    case DType::kI64:
      return "I64";
    case DType::kF8E4M3:
      return "F8_E4M3";
  }
  return "?";
}

}  // namespace rapt
