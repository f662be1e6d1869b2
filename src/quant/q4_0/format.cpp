#include <array>

#include "quant/block/nibbles_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ40Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ40Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ40Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ40Kernels;
}

namespace {

// 18 bytes: scale, nibbles; an element is its nibble minus 8, times the scale.
constexpr std::array kLayouts = {NibbleBlocks<false, false>::format(
    "q4_0",
    "Q4_0",
    2,
    {
        .reference = &kReferenceBlockKernels,
        .scalar = &cpu::scalar::kQ40Kernels,
        .avx2 = &cpu::avx2::kQ40Kernels,
        .avx512 = &cpu::avx512::kQ40Kernels,
        .avx512vnni = &cpu::avx512vnni::kQ40Kernels,
    }
)};

}  // namespace

WeightFormat q4_0_format() {
  return {.name = "q4_0", .blocks = kLayouts};
}

}  // namespace rapt
