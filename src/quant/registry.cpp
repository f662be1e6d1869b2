#include <array>

#include "kernels/embedding.h"
#include "quant/mxfp4/format.h"
#include "quant/q8_0/format.h"
#include "quant/weight_format.h"

namespace rapt {

std::span<const BlockType> known_block_types() {
  static constexpr std::array kTypes = {kMxfp4Blocks, kMxfp4OllamaBlocks, kQ80Blocks};
  return kTypes;
}

Result<std::unique_ptr<LinearMethod>> load_linear(WeightLoader& loader, const LinearSpec& spec) {
  const std::array formats = {mxfp4_format(), q8_0_format(), dense_format()};
  for (const WeightFormat& format : formats) {
    if (format.matches(loader, spec)) {
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
