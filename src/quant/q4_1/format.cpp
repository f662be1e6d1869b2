#include <array>

#include "quant/block/nibbles_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace cpu::scalar {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx2 {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx512 {
extern const BlockKernels kQ41Kernels;
}

namespace cpu::avx512vnni {
extern const BlockKernels kQ41Kernels;
}

namespace {

// 20 bytes: scale, min, nibbles; an element is its nibble times the scale, plus the min.
constexpr std::array kLayouts = {NibbleBlocks<true, false>::format(
    "q4_1",
    "Q4_1",
    3,
    {
        .reference = &kReferenceBlockKernels,
        .scalar = &cpu::scalar::kQ41Kernels,
        .avx2 = &cpu::avx2::kQ41Kernels,
        .avx512 = &cpu::avx512::kQ41Kernels,
        .avx512vnni = &cpu::avx512vnni::kQ41Kernels,
    }
)};

}  // namespace

WeightFormat q4_1_format() {
  return {.name = "q4_1", .blocks = kLayouts};
}

}  // namespace rapt
