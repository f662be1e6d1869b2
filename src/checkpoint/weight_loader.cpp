#include "checkpoint/weight_loader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kMaxNamedTensors = 4;

bool has_shape(const TensorInfo& info, const Shape& shape) {
  if (info.dims.size() != static_cast<std::size_t>(shape.rank())) {
    return false;
  }
  for (int dim = 0; dim < shape.rank(); ++dim) {
    if (info.dims[static_cast<std::size_t>(dim)] != shape[dim]) {
      return false;
    }
  }
  return true;
}

std::string names_of(std::initializer_list<DType> dtypes) {
  std::string out;
  for (const DType dtype : dtypes) {
    out += (out.empty() ? "" : " or ") + std::string(name_of(dtype));
  }
  return out;
}

}  // namespace

WeightLoader::WeightLoader(CheckpointDir checkpoint) : checkpoint_(std::move(checkpoint)) {}

// The tensor `name`, of this shape; it may still be of another type than `type_names`.
Result<const TensorInfo*> WeightLoader::find_checked(
    std::string_view name, const Shape& shape, const std::string& type_names
) {
  const TensorInfo* info = tensor_info(name);
  if (info == nullptr) {
    return bad_file(
        checkpoint_.weights_path() + " has no tensor " + in_quotes(name) +
        ", which the model needs with shape " + shape.to_string() + " and element type " +
        type_names
    );
  }
  const std::string where = checkpoint_.file_of(*info) + ": tensor " + in_quotes(name);
  if (!has_shape(*info, shape)) {
    return bad_file(
        where + " has shape " + dims_to_string(info->dims) + "; expected " + shape.to_string()
    );
  }
  return info;
}

Error WeightLoader::wrong_type(const TensorInfo& info, const std::string& type_names) const {
  const std::string unknown = info.unknown_gguf_type ? ", which Rapt cannot read" : "";
  return bad_file(
      checkpoint_.file_of(info) + ": tensor " + in_quotes(info.name) + " has element type " +
      info.type_name() + unknown + "; expected " + type_names
  );
}

Result<Tensor> WeightLoader::take(
    std::string_view name, const Shape& shape, std::initializer_list<DType> dtypes
) {
  const std::string type_names = names_of(dtypes);
  ASSIGN_OR_RETURN(const TensorInfo* info, find_checked(name, shape, type_names));
  const bool is_plain = info->block_type == nullptr && !info->unknown_gguf_type;
  if (!is_plain || std::find(dtypes.begin(), dtypes.end(), info->dtype) == dtypes.end()) {
    return wrong_type(*info, type_names);
  }
  used_.insert(info);
  return Tensor::read_only(aligned_data(*info), info->dtype, shape);
}

Result<std::span<const std::byte>> WeightLoader::take_blocks(
    std::string_view name, const Shape& shape, const BlockType& type
) {
  const std::string type_name(type.name);
  ASSIGN_OR_RETURN(const TensorInfo* info, find_checked(name, shape, type_name));
  if (info->block_type == nullptr || info->block_type->gguf_id != type.gguf_id) {
    return wrong_type(*info, type_name);
  }
  used_.insert(info);
  return std::span(info->data, static_cast<std::size_t>(info->num_bytes));
}

const std::byte* WeightLoader::aligned_data(const TensorInfo& info) {
  const auto address = reinterpret_cast<std::uintptr_t>(info.data);
  if (address % static_cast<std::uintptr_t>(size_of(info.dtype)) == 0) {
    return info.data;
  }
  std::unique_ptr<std::byte[]>& copy = copies_[&info];
  if (copy == nullptr) {
    const auto num_bytes = static_cast<std::size_t>(info.num_bytes);
    copy = std::make_unique_for_overwrite<std::byte[]>(num_bytes);
    std::memcpy(copy.get(), info.data, num_bytes);
    num_copied_bytes_ += info.num_bytes;
  }
  return copy.get();
}

void WeightLoader::skip(std::string_view name) {
  if (const TensorInfo* info = tensor_info(name)) {
    used_.insert(info);
  }
}

Result<void> WeightLoader::finish() const {
  std::size_t num_unused = 0;
  std::string listed;
  for (const WeightFile& file : checkpoint_.files()) {
    for (const TensorInfo& info : file.tensors()) {
      if (used_.contains(&info)) {
        continue;
      }
      ++num_unused;
      if (num_unused <= kMaxNamedTensors) {
        listed += (listed.empty() ? "" : ", ") + in_quotes(info.name);
      }
    }
  }
  if (num_unused == 0) {
    return {};
  }
  if (num_unused > kMaxNamedTensors) {
    listed += " and " + std::to_string(num_unused - kMaxNamedTensors) + " more";
  }
  return bad_file(
      checkpoint_.weights_path() + " holds " + std::to_string(num_unused) +
      " tensors that the model its " +
      (checkpoint_.gguf() != nullptr ? "metadata" : "config.json") +
      " describes does not have: " + listed
  );
}

}  // namespace rapt
