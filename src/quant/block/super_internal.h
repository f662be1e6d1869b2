#pragma once

#include <cstdint>

#include "quant/block/matrix_internal.h"

namespace rapt {

// What the formats of GGUF files have in common whose stored blocks are super-blocks: 256 inputs in
// eight parts of 32, for which a few numbers count that stand once.

// The first 16 bytes of a super-block of Q4_K and Q5_K are its header: d and dmin as F16, then a
// scale s and a min m of six bits for each part (i < 4):
//
//   byte  4 + i   the low six bits are s of part i, the high two are bits 4 and 5 of s of part i +
//   4 byte  8 + i   the same of m byte 12 + i   the low four bits are the rest of s of part i + 4,
//   the high four that of m
//
// An element is (d * s) * its integer - dmin * m. Both products in front are exact in fp32.
inline constexpr std::int64_t kSuperHeaderBytes = 16;

// Sets scales and min of a part.
void unpack_super_min(const std::uint8_t* super_block, std::int64_t part, UnpackedBlock* to);

// For tests and measurements: makes d and dmin finite and of a common size.
void set_super_min_factors(std::uint32_t random, std::uint8_t* super_block);

// Puts `num_bytes` bytes, whole registers of columns, of one row's super-block into lane `lane`.
void put_super_columns(
    const std::uint8_t* super_block, std::int64_t num_bytes, std::int64_t lane, std::uint8_t* to
);

}  // namespace rapt
