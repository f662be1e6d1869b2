#include "quant/block/linear_internal.h"
#include "quant/q8_0/format.h"
#include "quant/q8_0/kernels_internal.h"

namespace rapt {

namespace {

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return is_stored_in(loader, spec, kQ80Blocks);
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  return load_blocks(
      loader, spec, BlockFormat{"q8_0", q8_0_multiply()}, kQ80Blocks, kQ80CodesOffset
  );
}

}  // namespace

WeightFormat q8_0_format() {
  return {"q8_0", matches, load};
}

}  // namespace rapt
