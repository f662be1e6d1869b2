#include <array>

#include "quant/block/nibbles_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ51Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ51Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ51Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ51Kernels;
}

namespace {

// 24 bytes: scale, min, fifth bits, nibbles; an element is its five bits times the scale, plus
// the min.
constexpr std::array kLayouts = {NibbleBlocks<true, true>::format(
    "q5_1",
    "Q5_1",
    7,
    {
        .reference = &kReferenceBlockKernels,
        .scalar = &cpu::scalar::kQ51Kernels,
        .avx2 = &cpu::avx2::kQ51Kernels,
        .avx512 = &cpu::avx512::kQ51Kernels,
        .avx512vnni = &cpu::avx512vnni::kQ51Kernels,
    }
)};

}  // namespace

WeightFormat q5_1_format() {
  return {.name = "q5_1", .blocks = kLayouts};
}

}  // namespace rapt
