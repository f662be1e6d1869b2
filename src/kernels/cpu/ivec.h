#pragma once

// Sixteen lanes of 32 bits that hold integers: the companion of vec.h, under the same rules. A lane
// is one int32, two int16 (a pair) or four bytes (a quad), whichever the operation says. Lane 0 is
// at the lowest address, and so is byte 0 of a lane.
//
//   load_int, store_int, splat_int           sixteen int32
//   load_bytes                               sixteen bytes, each into a lane of its own
//   add_int, and_int, or_int, xor_int        lane by lane
//   shift_left<n>, shift_right<n>            32 bits, zeros move in
//   shift_right_by(a, n)                     the same by a number of bits that is not constant
//   max_unsigned                             the greater of each lane
//   shift_left_16<n>, shift_right_16<n>      int16; to the right keeps the sign
//   look_up(table, bytes)                    each byte b < 16 becomes table[b]
//   add_bit_4<n>(quads, bits)                byte k plus 16 where bit n + k of the lane is set; n
//   is
//                                            a multiple of 4
//   store_bytes(p, a)                        the low byte of each lane, 16 bytes
//   round_to_int(x)                          nearest, ties to even; |x| < 2^22
//   sums_of_lanes(a, b, sums)                sums[0] of a, sums[1] of b, of int32
//   max_of_lanes                             of unsigned integers
//   to_float, f16_to_float                   from int32; from the low halves of the lanes as F16
//   as_float, as_int                         the same bits
//   add_pair_products(sum, a, b)             sum + the dot product of two pairs
//   load_columns(p, stride, columns)         16 rows of 16 bytes, `stride` apart: lane r of
//                                            columns[i] is bytes 4i to 4i + 3 of row r
//   load_rows(p, stride, rows)               16 rows of 16 bytes: four lanes each, row r in lanes
//                                            r / 4 * 4 to r / 4 * 4 + 3 of rows[r % 4]
//   load_long_rows(p, stride, rows)          16 rows of 32 bytes: eight lanes each, row r in lanes
//                                            r / 4 % 2 * 8 and on of rows[r % 4 + r / 8 * 4]
//   add_across, add_long_across(rows)        lane r is the sum of row r's four or eight lanes
//   splat_16, splat_32(p)                    16 or 32 bytes, again and again
//   load_spread(p, stride, spread)           16 rows of 64 bytes: lane r of spread[i] is bytes 16i
//                                            to 16i + 3 of row r
//   widen_bytes(low, high, even, odd)        32 int8, plus 256 times those at `high` if not null,
//                                            as int16: the even ones, and the odd ones
//   store_alternating(p, even, odd)          32 floats: even[0], odd[0], even[1], ...
//
// Sums of products of quads, unsigned bytes times signed ones, are taken in steps:
//
//   sums = begin_byte_sums(sum)
//   sums = add_byte_products(sums, a, b)     up to four times
//   sum = end_byte_sums(sum, sums)
//
// Where kHasByteDots, they are added in int32. Elsewhere `sums` is 16-bit sums of the first two and
// of the last two products of each quad, so that eight such products must fit.

#include "kernels/cpu/vec.h"

#if defined(__AVX512F__)
#include "kernels/cpu/ivec_avx512_internal.h"
#elif defined(__AVX2__)
#include "kernels/cpu/ivec_avx2_internal.h"
#else
#include "kernels/cpu/ivec_scalar_internal.h"
#endif
