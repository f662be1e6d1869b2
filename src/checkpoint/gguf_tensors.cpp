#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "checkpoint/gguf_tensors_internal.h"
#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

// As in the library that defines the format.
constexpr std::uint32_t kMaxDims = 4;
constexpr std::size_t kMinEntryBytes = 8 + 4 + 4 + 8;

std::optional<DType> plain_type(std::uint32_t id) {
  switch (id) {
    case 0:
      return DType::kF32;
    case 1:
      return DType::kF16;
    case 24:
      return DType::kI8;
    case 26:
      return DType::kI32;
    case 27:
      return DType::kI64;
    case 30:
      return DType::kBF16;
    default:
      return std::nullopt;
  }
}

// nullptr when nobody knows the type.
const BlockType* find_block_type(std::span<const BlockType> types, std::uint32_t id) {
  const auto type = std::find_if(types.begin(), types.end(), [id](const BlockType& candidate) {
    return candidate.gguf_id == id;
  });
  return type == types.end() ? nullptr : &*type;
}

class EntryReader {
 public:
  EntryReader(GgufCursor& cursor, std::span<const BlockType> block_types, const std::string& what)
      : cursor_(cursor), block_types_(block_types), what_(what) {}

  Result<GgufTensorEntry> read(std::uint64_t tensor_idx);

 private:
  Error cut_short(const std::string& where) const {
    return bad_file(what_ + " ends in the middle of " + where + ": it is cut short or damaged");
  }

  Error problem(const TensorInfo& info, const std::string& text) const {
    return bad_file(what_ + ": tensor " + in_quotes(info.name) + " " + text);
  }

  Result<void> read_dims(TensorInfo& info);
  Result<void> set_type(TensorInfo& info, std::uint32_t type_id) const;

  GgufCursor& cursor_;
  std::span<const BlockType> block_types_;
  const std::string& what_;
};

Result<void> EntryReader::read_dims(TensorInfo& info) {
  std::uint32_t num_dims = 0;
  if (!cursor_.read(num_dims)) {
    return cut_short("the entry of tensor " + in_quotes(info.name));
  }
  if (num_dims > kMaxDims) {
    return problem(
        info,
        "has " + std::to_string(num_dims) + " dimensions; GGUF allows " + std::to_string(kMaxDims)
    );
  }
  // No file is that large; and the bytes of so many elements, multiplied in any order, fit 64 bits.
  // Sizes of 0 do not make others harmless.
  constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 59;
  std::uint64_t product = 1;
  for (std::uint32_t dim = 0; dim < num_dims; ++dim) {
    std::uint64_t size = 0;
    if (!cursor_.read(size)) {
      return cut_short("the entry of tensor " + in_quotes(info.name));
    }
    const std::uint64_t factor = std::max<std::uint64_t>(size, 1);
    if (factor > kMaxElements / product) {
      return problem(info, "has more elements than any file could hold");
    }
    product *= factor;
    info.dims.push_back(static_cast<std::int64_t>(size));
  }
  std::reverse(info.dims.begin(), info.dims.end());
  return {};
}

Result<void> EntryReader::set_type(TensorInfo& info, std::uint32_t type_id) const {
  std::int64_t num_elements = 1;
  for (const std::int64_t size : info.dims) {
    num_elements *= size;
  }
  if (const auto plain = plain_type(type_id)) {
    info.dtype = *plain;
    info.num_bytes = num_elements * size_of(*plain);
    return {};
  }
  const BlockType* type = find_block_type(block_types_, type_id);
  if (type == nullptr) {
    info.unknown_gguf_type = type_id;
    info.dtype = DType::kU8;
    return {};
  }
  const std::int64_t row_size = info.dims.empty() ? 1 : info.dims.back();
  if (row_size % type->elements != 0) {
    return problem(
        info,
        "has rows of " + std::to_string(row_size) + " elements, which are no whole blocks of " +
            std::to_string(type->elements) + ", as its type " + std::string(type->name) + " needs"
    );
  }
  info.dtype = DType::kU8;
  info.block_type = type;
  info.num_bytes = num_elements / type->elements * type->bytes;
  return {};
}

Result<GgufTensorEntry> EntryReader::read(std::uint64_t tensor_idx) {
  GgufTensorEntry entry;
  std::string_view name;
  if (!cursor_.read_string(name)) {
    return cut_short("the name of tensor number " + std::to_string(tensor_idx));
  }
  entry.info.name = name;
  RETURN_IF_ERROR(read_dims(entry.info));
  std::uint32_t type_id = 0;
  if (!cursor_.read(type_id) || !cursor_.read(entry.offset)) {
    return cut_short("the entry of tensor " + in_quotes(entry.info.name));
  }
  RETURN_IF_ERROR(set_type(entry.info, type_id));
  return entry;
}

}  // namespace

Result<std::vector<GgufTensorEntry>> read_gguf_tensors(
    GgufCursor& cursor,
    std::uint64_t num_tensors,
    std::span<const BlockType> block_types,
    const std::string& what
) {
  if (num_tensors > cursor.remaining() / kMinEntryBytes) {
    return bad_file(
        what + " claims to hold " + std::to_string(num_tensors) +
        " tensors, whose list alone would be longer than the rest of the file: it is cut short or "
        "damaged"
    );
  }
  std::vector<GgufTensorEntry> entries;
  entries.reserve(num_tensors);
  EntryReader reader(cursor, block_types, what);
  std::unordered_set<std::string_view> names;
  for (std::uint64_t tensor_idx = 0; tensor_idx < num_tensors; ++tensor_idx) {
    ASSIGN_OR_RETURN(GgufTensorEntry entry, reader.read(tensor_idx));
    entries.push_back(std::move(entry));
    if (!names.insert(entries.back().info.name).second) {
      return bad_file(what + " holds tensor " + in_quotes(entries.back().info.name) + " twice");
    }
  }
  return entries;
}

Result<void> place_gguf_tensors(
    std::vector<GgufTensorEntry>& entries,
    std::string_view data,
    std::uint64_t alignment,
    const std::string& what
) {
  std::vector<const GgufTensorEntry*> by_offset;
  by_offset.reserve(entries.size());
  for (GgufTensorEntry& entry : entries) {
    TensorInfo& info = entry.info;
    const std::string where = what + ": tensor " + in_quotes(info.name);
    if (entry.offset % alignment != 0) {
      return bad_file(
          where + " lies at offset " + std::to_string(entry.offset) +
          ", which is no multiple of the file's alignment, " + std::to_string(alignment)
      );
    }
    const auto num_bytes = static_cast<std::uint64_t>(info.num_bytes);
    if (entry.offset > data.size() || num_bytes > data.size() - entry.offset) {
      return bad_file(
          where +
          " ends past the end of the file: the file is cut short or damaged; download it "
          "again"
      );
    }
    if (!info.unknown_gguf_type) {
      info.data = reinterpret_cast<const std::byte*>(data.data()) + entry.offset;
    }
    by_offset.push_back(&entry);
  }
  std::sort(by_offset.begin(), by_offset.end(), [](const auto* a, const auto* b) {
    // An empty tensor may lie where another begins.
    return std::pair(a->offset, a->info.num_bytes) < std::pair(b->offset, b->info.num_bytes);
  });
  for (std::size_t idx = 1; idx < by_offset.size(); ++idx) {
    const GgufTensorEntry& before = *by_offset[idx - 1];
    if (before.offset + static_cast<std::uint64_t>(before.info.num_bytes) >
        by_offset[idx]->offset) {
      return bad_file(
          what + ": tensors " + in_quotes(before.info.name) + " and " +
          in_quotes(by_offset[idx]->info.name) + " lie one over the other"
      );
    }
  }
  return {};
}

}  // namespace rapt
