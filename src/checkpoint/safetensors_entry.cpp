#include <algorithm>
#include <iterator>
#include <optional>

#include "checkpoint/message_text_internal.h"
#include "checkpoint/safetensors_entry_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kMaxRank = 8;

// Those we have no DType for, so that a message can tell "not supported" from "no such type".
constexpr std::string_view kOtherDtypes[] = {
    "BOOL",
    "I16",
    "U16",
    "U32",
    "U64",
    "F64",
    "C64",
    "F4",
    "F6_E2M3",
    "F6_E3M2",
    "F8_E4M3",
    "F8_E4M3FNUZ",
    "F8_E5M2",
    "F8_E5M2FNUZ",
    "F8_E8M0"};
constexpr DType kDtypes[] = {
    DType::kF32, DType::kF16, DType::kBF16, DType::kU8, DType::kI8, DType::kI32, DType::kI64};

Result<DType> parse_dtype(const json::value& value, const std::string& tensor) {
  if (!value.is_string()) {
    return bad_file(
        tensor + ": \"dtype\" is " + std::string(json_kind_name(value)) + "; expected a string"
    );
  }
  const std::string_view name = value.get_string();
  std::string known;
  for (const DType dtype : kDtypes) {
    if (name == name_of(dtype)) {
      return dtype;
    }
    known += (known.empty() ? "" : ", ") + std::string(name_of(dtype));
  }
  const bool exists =
      std::find(std::begin(kOtherDtypes), std::end(kOtherDtypes), name) != std::end(kOtherDtypes);
  return bad_file(
      tensor + " has element type " + in_quotes(name) +
      (exists ? ", which is not supported yet" : ", which safetensors does not have") +
      "; expected one of " + known
  );
}

// Sizes and offsets: integers from 0 on.
std::optional<std::int64_t> as_size(const json::value& value) {
  if (value.is_int64() && value.get_int64() >= 0) {
    return value.get_int64();
  }
  return std::nullopt;
}

Result<std::vector<std::int64_t>> parse_sizes(
    const json::value& value, std::string_view field, const std::string& tensor
) {
  const std::string where = tensor + ": \"" + std::string(field) + "\" ";
  if (!value.is_array()) {
    return bad_file(
        where + "is " + std::string(json_kind_name(value)) + "; expected an array of integers"
    );
  }
  std::vector<std::int64_t> sizes;
  for (const json::value& item : value.get_array()) {
    const std::optional<std::int64_t> size = as_size(item);
    if (!size) {
      return bad_file(
          where + "holds " + shown_json(item) + "; expected integers from 0 to 2^63 - 1"
      );
    }
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<std::int64_t> product_bytes(const std::vector<std::int64_t>& dims, DType dtype) {
  std::int64_t bytes = size_of(dtype);
  for (const std::int64_t dim : dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace

Result<TensorExtent> parse_safetensors_entry(
    std::string_view name, const json::value& value, const std::string& tensor
) {
  if (!value.is_object()) {
    return bad_file(
        tensor + " is described by " + std::string(json_kind_name(value)) + "; expected an object"
    );
  }
  const json::object& object = value.get_object();
  for (const std::string_view field : {"dtype", "shape", "data_offsets"}) {
    if (!object.contains(field)) {
      return bad_file(tensor + " has no \"" + std::string(field) + "\" in the header");
    }
  }
  TensorExtent extent;
  extent.info.name = name;
  ASSIGN_OR_RETURN(extent.info.dtype, parse_dtype(object.at("dtype"), tensor));
  ASSIGN_OR_RETURN(extent.info.dims, parse_sizes(object.at("shape"), "shape", tensor));
  if (extent.info.dims.size() > kMaxRank) {
    return bad_file(
        tensor + " has " + std::to_string(extent.info.dims.size()) +
        " dimensions; expected at most " + std::to_string(kMaxRank)
    );
  }
  ASSIGN_OR_RETURN(
      const std::vector<std::int64_t> offsets,
      parse_sizes(object.at("data_offsets"), "data_offsets", tensor)
  );
  if (offsets.size() != 2) {
    return bad_file(
        tensor + ": \"data_offsets\" holds " + std::to_string(offsets.size()) +
        " numbers; expected 2, begin and end"
    );
  }
  if (offsets[1] < offsets[0]) {
    return bad_file(
        tensor + ": \"data_offsets\" end at " + std::to_string(offsets[1]) +
        ", before their begin at " + std::to_string(offsets[0])
    );
  }
  extent.begin = static_cast<std::uint64_t>(offsets[0]);
  extent.end = static_cast<std::uint64_t>(offsets[1]);
  const std::optional<std::int64_t> expected = product_bytes(extent.info.dims, extent.info.dtype);
  const std::string described = "shape " + dims_to_string(extent.info.dims) + " and element type " +
                                std::string(name_of(extent.info.dtype));
  if (!expected) {
    return bad_file(tensor + " has " + described + ", more bytes than 64 bits can count");
  }
  extent.info.num_bytes = offsets[1] - offsets[0];
  if (extent.info.num_bytes != *expected) {
    return bad_file(
        tensor + " has " + described + ", so " + std::to_string(*expected) +
        " bytes were expected; its \"data_offsets\" span " + std::to_string(extent.info.num_bytes)
    );
  }
  return extent;
}

}  // namespace rapt
