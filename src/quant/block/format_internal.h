#pragma once

#include <cstdint>
#include <string_view>

#include "checkpoint/block_type.h"
#include "quant/block/matrix_internal.h"

namespace rapt {

// A block format in one layout: all that layers, tables and tests need to know of it.
struct BlockFormat {
  std::string_view name;         // "mxfp4"
  std::string_view layout_name;  // no other's, for selftests and measurements: "mxfp4-pairs"
  // A stored block. Where `is_in_gguf`, it is how GGUF files name and number it; it begins with its
  // scales, and its codes begin at byte `codes_offset`. Otherwise it is the codes alone.
  BlockType type;
  bool is_in_gguf = true;
  std::int64_t codes_offset = 0;
  BlockLayout layout;
  KernelBuilds<const BlockKernels*> kernels;

  // 16 rows of a stored block in a prepared piece: that many bytes of codes, as registers of 16
  // lanes of four bytes, and of scales.
  std::int64_t prepared_codes_bytes = 0;
  std::int64_t prepared_scales_bytes = 0;
  // Puts the stored block of one row into lane `lane` of these.
  void (*prepare
  )(const std::uint8_t* codes,
    const std::uint8_t* scales,
    std::int64_t lane,
    std::uint8_t* to_codes,
    std::uint8_t* to_scales) = nullptr;

  // The largest byte that the kernels multiply: sums of eight products of up to 31 fit 16 bits.
  int max_byte = 255;

  // For tests and measurements: overwrites the scales of a stored block, whose other bytes may be
  // any, by finite ones of a common size.
  void (*set_scales)(std::uint32_t random, std::uint8_t* scales) = nullptr;
};

}  // namespace rapt
