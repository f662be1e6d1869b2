#pragma once

#include <cstdint>
#include <string_view>

#include "quant/block/matrix_internal.h"

namespace rapt {

// What a block format, in one layout, brings to make a LinearMethod.
struct BlockFormat {
  std::string_view name;
  KernelBuilds<const BlockKernels*> kernels;
  std::int64_t codes_block_bytes = 0;   // from the codes of a block to those of the next
  std::int64_t scales_block_bytes = 0;  // likewise

  // A block of 16 rows in a prepared piece: that many bytes of codes, as registers of 16 lanes of
  // four bytes, and of scales.
  std::int64_t prepared_codes_bytes = 0;
  std::int64_t prepared_scales_bytes = 0;
  // Puts the block of one row into lane `lane` of these.
  void (*prepare
  )(const std::uint8_t* codes,
    const std::uint8_t* scale,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales) = nullptr;
};

}  // namespace rapt
