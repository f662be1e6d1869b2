#include <vector>

#include "kernels/embedding.h"
#include "quant/block/linear_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

std::span<const BlockType> known_block_types() {
  static const std::vector<BlockType> types = [] {
    std::vector<BlockType> all;
    for (const WeightFormat& format : weight_formats()) {
      for (const BlockFormat& blocks : format.blocks) {
        if (blocks.is_in_gguf) {
          all.push_back(blocks.type);
        }
      }
    }
    return all;
  }();
  return types;
}

const BlockFormat* find_block_format(const BlockType& type) {
  for (const WeightFormat& format : weight_formats()) {
    for (const BlockFormat& blocks : format.blocks) {
      if (blocks.is_in_gguf && blocks.type.gguf_id == type.gguf_id) {
        return &blocks;
      }
    }
  }
  return nullptr;
}

Result<std::unique_ptr<LinearMethod>> load_linear(WeightLoader& loader, const LinearSpec& spec) {
  const TensorInfo* info = loader.tensor_info(spec.dense);
  if (info != nullptr && info->block_type != nullptr) {
    if (const BlockFormat* blocks = find_block_format(*info->block_type)) {
      return load_blocks(loader, spec, *blocks);
    }
  }
  for (const WeightFormat& format : weight_formats()) {
    if (format.matches != nullptr && format.matches(loader, spec)) {
      return format.load(loader, spec);
    }
  }
  std::string names = "\"" + spec.dense + "\"";
  if (!spec.blocks.empty()) {
    names += " or \"" + spec.blocks + "\"";
  }
  return bad_file(loader.checkpoint().weights_path() + " has no tensor " + names);
}

Result<std::vector<float>> load_f32(
    WeightLoader& loader, const std::string& name, const Shape& shape
) {
  ASSIGN_OR_RETURN(
      const Tensor tensor, loader.take(name, shape, {DType::kBF16, DType::kF16, DType::kF32})
  );
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  convert_to_f32(tensor, values.data());
  return values;
}

}  // namespace rapt
