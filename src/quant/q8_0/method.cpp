#include "quant/block/linear_internal.h"
#include "quant/q8_0/block_format_internal.h"
#include "quant/q8_0/format.h"

namespace rapt {

namespace {

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return is_stored_in(loader, spec, kQ80Blocks);
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  return load_blocks(loader, spec, q8_0_block_format(), kQ80Blocks, kQ80CodesOffset);
}

}  // namespace

WeightFormat q8_0_format() {
  return {"q8_0", matches, load};
}

}  // namespace rapt
