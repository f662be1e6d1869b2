#include "quant/block/cpu_bytes_internal.h"
#include "quant/block/cpu_plain_internal.h"
#include "quant/block/cpu_power_scales_internal.h"
#include "quant/mxfp4/cpu_rows_internal.h"

namespace rapt::cpu::RAPT_CPU_LEVEL {

namespace {

struct Mxfp4Dots : ByteDots<ByteShape{.offset_shift = 4}> {
#if defined(__AVX512VNNI__)
  using PowerScales = PowerScaleDots<ByteShape{.offset_shift = 4}>;
#endif
};

template <typename Layout>
struct Format {
  using Rows = Layout;
  using PreparedRows = Mxfp4PreparedRows;
  using Dots = Mxfp4Dots;

  static HalfRows prepared_half(const uint8_t* piece, int64_t half, int64_t num_blocks) {
    return place_prepared_half(piece, half, num_blocks, Mxfp4PreparedRows::kBlockBytes, kLanes);
  }
};

}  // namespace

extern const BlockKernels kMxfp4PairsKernels;
const BlockKernels kMxfp4PairsKernels = {multiply_plainly, multiply_blocks<Format<Mxfp4PairsRows>>};

extern const BlockKernels kMxfp4OllamaKernels;
const BlockKernels kMxfp4OllamaKernels = {
    multiply_plainly, multiply_blocks<Format<Mxfp4OllamaRows>>};

extern const BlockKernels kMxfp4GgufKernels;
const BlockKernels kMxfp4GgufKernels = {multiply_plainly, multiply_blocks<Format<Mxfp4GgufRows>>};

}  // namespace rapt::cpu::RAPT_CPU_LEVEL
