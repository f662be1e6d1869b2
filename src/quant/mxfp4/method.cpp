#include <utility>
#include <vector>

#include "quant/block/linear_internal.h"
#include "quant/load_bias_internal.h"
#include "quant/mxfp4/block_format_internal.h"
#include "quant/mxfp4/format.h"

namespace rapt {

namespace {

bool matches(const WeightLoader& loader, const LinearSpec& spec) {
  return is_stored_in(loader, spec, kMxfp4Blocks) ||
         is_stored_in(loader, spec, kMxfp4OllamaBlocks) ||
         (!spec.blocks.empty() && (loader.has(spec.blocks) || loader.has(spec.scales)));
}

// Blocks and scales in two tensors.
Result<std::unique_ptr<LinearMethod>> load_pairs(WeightLoader& loader, const LinearSpec& spec) {
  RETURN_IF_ERROR(check_block_rows("MXFP4", spec.blocks, spec.in_features));
  CHECK(spec.second.empty() && spec.stored_rows == 0, "not a layout of MXFP4 tensors");
  const std::int64_t num_matrices = spec.num_experts.value_or(1);
  const std::int64_t num_blocks = spec.in_features / kMxfp4BlockSize;
  ASSIGN_OR_RETURN(
      const Tensor blocks,
      loader.take(
          spec.blocks,
          Shape{num_matrices, spec.out_features, num_blocks, kMxfp4BlockBytes},
          {DType::kU8}
      )
  );
  ASSIGN_OR_RETURN(
      const Tensor scales,
      loader.take(spec.scales, Shape{num_matrices, spec.out_features, num_blocks}, {DType::kU8})
  );
  const auto part = [&](Tensor tensor, std::int64_t row_bytes) {
    const auto* data = static_cast<const std::uint8_t*>(tensor.raw());
    return BlockTensors::Part{data, row_bytes, spec.out_features * row_bytes};
  };
  BlockTensors tensors;
  tensors.codes[0] = part(blocks, num_blocks * kMxfp4BlockBytes);
  tensors.scales[0] = part(scales, num_blocks);
  // The bias of a stack of one is [1, out].
  LinearSpec stack = spec;
  stack.num_experts = num_matrices;
  ASSIGN_OR_RETURN(std::vector<float> bias, load_bias(loader, stack));
  return std::unique_ptr<LinearMethod>(
      std::make_unique<BlockLinear>(mxfp4_pairs_format(), tensors, std::move(bias), spec)
  );
}

Result<std::unique_ptr<LinearMethod>> load(WeightLoader& loader, const LinearSpec& spec) {
  if (is_stored_in(loader, spec, kMxfp4Blocks)) {
    return load_blocks(loader, spec, mxfp4_gguf_format(), kMxfp4Blocks, 1);
  }
  if (is_stored_in(loader, spec, kMxfp4OllamaBlocks)) {
    return load_blocks(loader, spec, mxfp4_ollama_format(), kMxfp4OllamaBlocks, 1);
  }
  return load_pairs(loader, spec);
}

}  // namespace

WeightFormat mxfp4_format() {
  return {"mxfp4", matches, load};
}

}  // namespace rapt
