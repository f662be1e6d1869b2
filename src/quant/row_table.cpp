#include "quant/row_table.h"

#include <cstring>

#include "kernels/embedding.h"
#include "quant/block/linear_internal.h"
#include "quant/block/ref_internal.h"
#include "quant/registry_internal.h"

namespace rapt {

namespace {

template <DType kType>
void decode_floats(const std::byte* row, std::int64_t size, float* to) {
  convert_to_f32(Tensor::read_only(row, kType, Shape{size}), to);
}

void decode_blocks(const BlockFormat& format, const std::byte* row, std::int64_t size, float* to) {
  const auto* stored = reinterpret_cast<const std::uint8_t*>(row);
  for (std::int64_t first = 0; first < size; first += format.type.elements) {
    for (std::int64_t part = 0; part < format.layout.num_parts; ++part) {
      UnpackedBlock block;
      format.layout.unpack(stored + format.codes_offset, stored, part, &block);
      for (std::int64_t idx = 0; idx < kPackedBlockSize; ++idx) {
        *to++ = block_weight(format.layout, block, idx);
      }
    }
    stored += format.type.bytes;
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
      const std::byte* row = data_ + id * row_bytes_;
      float* to = out.f32() + idx * row_size_;
      if (blocks_ != nullptr) {
        decode_blocks(*blocks_, row, row_size_, to);
      } else {
        decode_floats_(row, row_size_, to);
      }
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
  const TensorInfo* info = loader.tensor_info(name);
  const BlockFormat* format = info == nullptr || info->block_type == nullptr
                                  ? nullptr
                                  : find_block_format(*info->block_type);
  if (format != nullptr) {
    RETURN_IF_ERROR(check_block_rows(format->type, name, row_size));
    ASSIGN_OR_RETURN(const auto bytes, loader.take_blocks(name, shape, format->type));
    table.data_ = bytes.data();
    table.row_bytes_ = row_size / format->type.elements * format->type.bytes;
    table.blocks_ = format;
    return table;
  }
  ASSIGN_OR_RETURN(
      const Tensor tensor, loader.take(name, shape, {DType::kBF16, DType::kF16, DType::kF32})
  );
  table.data_ = static_cast<const std::byte*>(tensor.raw());
  table.row_bytes_ = row_size * size_of(tensor.dtype());
  table.decode_floats_ = tensor.dtype() == DType::kF32   ? decode_floats<DType::kF32>
                         : tensor.dtype() == DType::kF16 ? decode_floats<DType::kF16>
                                                         : decode_floats<DType::kBF16>;
  return table;
}

}  // namespace rapt
