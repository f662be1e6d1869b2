#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "checkpoint/block_type.h"
#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/tensor_info.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace rapt {

// Hands the tensors of a checkpoint to the model that is being built, by name, each checked against
// the shape and the element types that the model expects, and keeps count of them: a missing name
// is an error at once, an unused one when the model says finish().
//
// The tensors are views of the mapped files, which the loader owns: the model keeps the loader for
// as long as it lives. Moving the loader leaves them valid. Used by one thread, while loading.
class WeightLoader {
 public:
  explicit WeightLoader(CheckpointDir checkpoint);

  const CheckpointDir& checkpoint() const { return checkpoint_; }

  bool has(std::string_view name) const { return tensor_info(name) != nullptr; }

  // nullptr when there is no such tensor. Does not count as a use.
  const TensorInfo* tensor_info(std::string_view name) const { return checkpoint_.find(name); }

  // The tensor `name`, read-only, its data aligned to its element size and to no more. May be
  // asked for more than once.
  Result<Tensor> take(
      std::string_view name, const Shape& shape, std::initializer_list<DType> dtypes
  );

  // The same for a tensor whose elements are stored in blocks of `type`: `shape` counts elements.
  // The bytes lie in the mapping and are aligned to nothing.
  Result<std::span<const std::byte>> take_blocks(
      std::string_view name, const Shape& shape, const BlockType& type
  );

  // Counts the tensor `name` as used, if there is one: its values are not needed.
  void skip(std::string_view name);

  // Fails when the checkpoint holds tensors that nobody took.
  Result<void> finish() const;

  // Bytes of tensors that had to be copied out of the mapping, because they lay at odd addresses.
  std::int64_t num_copied_bytes() const { return num_copied_bytes_; }

 private:
  Result<const TensorInfo*> find_checked(
      std::string_view name, const Shape& shape, const std::string& type_names
  );
  Error wrong_type(const TensorInfo& info, const std::string& type_names) const;
  const std::byte* aligned_data(const TensorInfo& info);

  CheckpointDir checkpoint_;
  std::unordered_set<const TensorInfo*> used_;
  std::unordered_map<const TensorInfo*, std::unique_ptr<std::byte[]>> copies_;
  std::int64_t num_copied_bytes_ = 0;
};

}  // namespace rapt
