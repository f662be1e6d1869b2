#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "checkpoint/weight_loader.h"
#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace rapt {

struct BlockFormat;

// A table of rows in any weight format, read row by row as exact fp32: the token embedding. Views
// the checkpoint's mapping, which must outlive it. Immutable; any thread.
class RowTable {
 public:
  RowTable() = default;

  std::int64_t num_rows() const { return num_rows_; }

  std::int64_t row_size() const { return row_size_; }

  std::int64_t num_bytes() const { return num_rows_ * row_bytes_; }

  // out[i] = row ids[i]. Ids must be inside the table.
  void gather(
      const Stream& stream,
      std::span<const std::int32_t> ids,  // [num_ids]
      Tensor out                          // [num_ids, row_size] fp32
  ) const;

 private:
  friend Result<RowTable> load_rows(
      WeightLoader& loader, const std::string& name, std::int64_t num_rows, std::int64_t row_size
  );

  const std::byte* data_ = nullptr;
  std::int64_t num_rows_ = 0;
  std::int64_t row_size_ = 0;
  std::int64_t row_bytes_ = 0;
  const BlockFormat* blocks_ = nullptr;  // null: floats, which decode_floats_ converts
  void (*decode_floats_)(const std::byte* row, std::int64_t size, float* to) = nullptr;
};

// The tensor `name`, [num_rows, row_size], of floats or of a block type that Rapt knows.
Result<RowTable> load_rows(
    WeightLoader& loader, const std::string& name, std::int64_t num_rows, std::int64_t row_size
);

}  // namespace rapt
