#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/block_type.h"
#include "checkpoint/weight_loader.h"
#include "quant/linear_method.h"

namespace rapt {

// What a model wants to load as one linear layer: its sizes, and the names under which a checkpoint
// may hold it. The formats look at the names; the first that finds its own takes it.
struct LinearSpec {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  // A stack of experts, stored with a leading dimension; absent: one plain matrix.
  std::optional<std::int64_t> num_experts;

  std::string dense;  // name of the matrix, [out, in]: of floats, or of a block type of GGUF
  bool dense_transposed = false;  // it is stored [in, out]; floats only
  std::string blocks;             // name of the MXFP4 blocks, [out, in / 32, 16]; "" for none
  std::string scales;             // name of the MXFP4 scales, [out, in / 32]
  std::string bias;               // name of the bias, [out]; "" for none

  // Where gate and up are stored apart: rows 2i of the layer are rows i of `dense`, rows 2i + 1 are
  // rows i of `second`, each [out / 2, in]; the biases likewise. "": there is one matrix.
  std::string second;
  std::string second_bias;

  // A part of a matrix that is stored with others: rows [first_row, first_row + out_features) of
  // `stored_rows`. One plain matrix only. 0: the whole matrix.
  std::int64_t first_row = 0;
  std::int64_t stored_rows = 0;

  std::int64_t rows_in_file() const { return stored_rows > 0 ? stored_rows : out_features; }
};

// The block types of GGUF files that load_linear() and load_rows() read.
std::span<const BlockType> known_block_types();

// Loads `spec` in whichever format the checkpoint has it.
Result<std::unique_ptr<LinearMethod>> load_linear(WeightLoader& loader, const LinearSpec& spec);

// A float tensor of any type as fp32 (biases, norm weights, sinks: small, so copied).
Result<std::vector<float>> load_f32(
    WeightLoader& loader, const std::string& name, const Shape& shape
);

}  // namespace rapt
