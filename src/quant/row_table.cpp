#include "quant/row_table.h"

#include <cstring>

#include "kernels/embedding.h"
#include "quant/mxfp4/format.h"
#include "quant/q8_0/format.h"
#include "tensor/float_bits.h"

namespace rapt {

namespace {

template <DType kType>
void decode_floats(const std::byte* row, std::int64_t size, float* to) {
  convert_to_f32(Tensor::read_only(row, kType, Shape{size}), to);
}

void decode_q8_0(const std::byte* row, std::int64_t size, float* to) {
  for (std::int64_t first = 0; first < size; first += kQ80BlockSize) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, row, sizeof(bits));
    const float scale = f16_to_f32(bits);
    for (std::int64_t idx = 0; idx < kQ80BlockSize; ++idx) {
      to[first + idx] =
          static_cast<float>(static_cast<std::int8_t>(row[kQ80CodesOffset + idx])) * scale;
    }
    row += kQ80Blocks.bytes;
  }
}

void decode_mxfp4(const std::byte* row, std::int64_t size, float* to) {
  for (std::int64_t first = 0; first < size; first += kMxfp4BlockSize) {
    const float scale = mxfp4_half_scale(static_cast<std::uint8_t>(row[0]));
    for (std::int64_t idx = 0; idx < kMxfp4BlockBytes; ++idx) {
      const auto pair = static_cast<std::uint8_t>(row[1 + idx]);
      to[first + idx] = static_cast<float>(kMxfp4DoubledCodes[pair & 15U]) * scale;
      to[first + idx + 16] = static_cast<float>(kMxfp4DoubledCodes[pair >> 4U]) * scale;
    }
    row += kMxfp4Blocks.bytes;
  }
}

}  // namespace

void RowTable::gather(const Stream& stream, std::span<const std::int32_t> ids, Tensor out) const {
  const auto num_ids = static_cast<std::int64_t>(ids.size());
  CHECK(out.shape() == (Shape{num_ids, row_size_}), out.shape().to_string());
  stream.pool->parallel_for(num_ids, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t idx = begin; idx < end; ++idx) {
      const std::int32_t id = ids[static_cast<std::size_t>(idx)];
      CHECK(id >= 0 && id < num_rows_, "row ", id, " of ", num_rows_);
      decode_row_(data_ + id * row_bytes_, row_size_, out.f32() + idx * row_size_);
    }
  });
}

Result<RowTable> load_rows(
    WeightLoader& loader, const std::string& name, std::int64_t num_rows, std::int64_t row_size
) {
  const Shape shape = {num_rows, row_size};
  RowTable table;
  table.num_rows_ = num_rows;
  table.row_size_ = row_size;
  const auto take_blocks = [&](const BlockType& type, RowTable::DecodeRow decode) -> Result<void> {
    if (row_size % type.elements != 0) {
      return bad_file(
          "\"" + name + "\" is " + std::string(type.name) + ", whose rows are whole blocks of " +
          std::to_string(type.elements) + ", but the model's config makes them " +
          std::to_string(row_size) + " long"
      );
    }
    ASSIGN_OR_RETURN(const auto bytes, loader.take_blocks(name, shape, type));
    table.data_ = bytes.data();
    table.row_bytes_ = row_size / type.elements * type.bytes;
    table.decode_row_ = decode;
    return {};
  };
  const TensorInfo* info = loader.tensor_info(name);
  if (info != nullptr && info->block_type != nullptr) {
    if (info->block_type->gguf_id == kQ80Blocks.gguf_id) {
      RETURN_IF_ERROR(take_blocks(kQ80Blocks, decode_q8_0));
      return table;
    }
    if (info->block_type->gguf_id == kMxfp4Blocks.gguf_id) {
      RETURN_IF_ERROR(take_blocks(kMxfp4Blocks, decode_mxfp4));
      return table;
    }
  }
  ASSIGN_OR_RETURN(
      const Tensor tensor, loader.take(name, shape, {DType::kBF16, DType::kF16, DType::kF32})
  );
  table.data_ = static_cast<const std::byte*>(tensor.raw());
  table.row_bytes_ = row_size * size_of(tensor.dtype());
  table.decode_row_ = tensor.dtype() == DType::kF32   ? decode_floats<DType::kF32>
                      : tensor.dtype() == DType::kF16 ? decode_floats<DType::kF16>
                                                      : decode_floats<DType::kBF16>;
  return table;
}

}  // namespace rapt
