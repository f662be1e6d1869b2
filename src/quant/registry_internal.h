#pragma once

#include <span>

#include "quant/block/format_internal.h"
#include "quant/weight_format.h"

namespace rapt {

// One family of formats: what a folder of quant/ brings.
struct WeightFormat {
  std::string_view name;
  // Its layouts in blocks of 32 inputs. Those of GGUF files are found by the tensors' type.
  std::span<const BlockFormat> blocks;
  // How weights that are stored in another way are recognised and loaded; null: there are none.
  bool (*matches)(const WeightLoader& loader, const LinearSpec& spec) = nullptr;
  Result<std::unique_ptr<LinearMethod>> (*load
  )(WeightLoader& loader, const LinearSpec& spec) = nullptr;
};

// All formats, in the order of FORMATS in quant/CMakeLists.txt, which makes this function.
std::span<const WeightFormat> weight_formats();

// The layout of GGUF files that `type` names; null: none.
const BlockFormat* find_block_format(const BlockType& type);

}  // namespace rapt
