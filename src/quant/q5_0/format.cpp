#include <array>

#include "quant/block/nibbles_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ50Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ50Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ50Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ50Kernels;
}

namespace {

// 22 bytes: scale, fifth bits, nibbles; an element is its five bits minus 16, times the scale.
constexpr std::array kLayouts = {NibbleBlocks<false, true>::format(
    "q5_0",
    "Q5_0",
    6,
    {
        .reference = &kReferenceBlockKernels,
        .scalar = &cpu::scalar::kQ50Kernels,
        .avx2 = &cpu::avx2::kQ50Kernels,
        .avx512 = &cpu::avx512::kQ50Kernels,
        .avx512vnni = &cpu::avx512vnni::kQ50Kernels,
    }
)};

}  // namespace

WeightFormat q5_0_format() {
  return {.name = "q5_0", .blocks = kLayouts};
}

}  // namespace rapt
