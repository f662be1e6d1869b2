#include "checkpoint/gguf.h"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "checkpoint/gguf_bytes_internal.h"
#include "checkpoint/gguf_tensors_internal.h"
#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::size_t kHeaderBytes = 4 + 4 + 8 + 8;
constexpr std::size_t kMinValueBytes = 8 + 4 + 1;
constexpr std::size_t kMaxKeyBytes = 65535;  // the format's own limit
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::uint64_t kDefaultAlignment = 32;
// A page of the largest size in use; more would be a mistake.
constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 30;

struct Header {
  std::uint32_t version = 0;
  std::uint64_t num_tensors = 0;
  std::uint64_t num_values = 0;
};

// What a file is instead, for the mistakes that people make.
std::optional<std::string_view> foreign_format(std::string_view file) {
  if (file.starts_with("version https://git-lfs")) {
    return "a Git LFS pointer, not the model itself; fetch it with `git lfs pull`";
  }
  if (file.starts_with("PK\x03\x04")) {
    return "a zip archive; expected a GGUF file";
  }
  if (file.starts_with("<")) {
    return "an HTML or XML page, as a failed download leaves; expected a GGUF file";
  }
  if (file.starts_with("lmgg") || file.starts_with("tjgg") || file.starts_with("fmgg")) {
    return "in a format older than GGUF, which is not supported; convert the model anew";
  }
  return std::nullopt;
}

Result<Header> read_header(GgufCursor& cursor, std::string_view file, const std::string& what) {
  if (!file.starts_with(kMagic)) {
    const auto format = foreign_format(file);
    return bad_file(
        what + " is " +
        std::string(format.value_or("no GGUF file: it does not begin with \"GGUF\""))
    );
  }
  if (file.size() < kHeaderBytes) {
    return bad_file(
        what + " is " + std::to_string(file.size()) +
        " bytes long; the header of a GGUF file has " + std::to_string(kHeaderBytes) +
        ": it is cut short"
    );
  }
  Header header;
  std::string_view magic;
  cursor.read_bytes(kMagic.size(), magic);
  cursor.read(header.version);
  cursor.read(header.num_tensors);
  cursor.read(header.num_values);
  const std::string is_version =
      what + " is a GGUF file of version " + std::to_string(header.version);
  if (header.version == 1) {
    return bad_file(is_version + ", which is not supported; convert the model anew");
  }
  if (header.version != 0 && (header.version & 0xFFFFU) == 0) {
    return bad_file(
        what +
        " is a GGUF file for big-endian machines, which is not supported; get the "
        "little-endian one, or convert the model anew"
    );
  }
  if (header.version != 2 && header.version != 3) {
    return bad_file(is_version + "; Rapt reads versions 2 and 3");
  }
  return header;
}

Result<void> read_metadata(
    GgufCursor& cursor, std::uint64_t num_values, const std::string& what, GgufMetadata& metadata
) {
  if (num_values > cursor.remaining() / kMinValueBytes) {
    return bad_file(
        what + " claims to hold " + std::to_string(num_values) +
        " metadata values, which would be longer than the rest of the file: it is cut short or "
        "damaged"
    );
  }
  for (std::uint64_t value_idx = 0; value_idx < num_values; ++value_idx) {
    std::string_view key;
    std::uint32_t type = 0;
    if (!cursor.read_string(key) || !cursor.read(type)) {
      return bad_file(
          what + " ends in the middle of its metadata, at value number " +
          std::to_string(value_idx) + ": it is cut short or damaged"
      );
    }
    const std::string where = what + ": metadata value " + in_quotes(key);
    if (key.empty() || key.size() > kMaxKeyBytes) {
      return bad_file(
          where + " has a name of " + std::to_string(key.size()) + " bytes; 1 to " +
          std::to_string(kMaxKeyBytes) + " are allowed"
      );
    }
    if (!is_gguf_type(type)) {
      return bad_file(
          where + " has the type " + std::to_string(type) + ", which GGUF does not define"
      );
    }
    GgufValue value;
    if (const auto problem = read_gguf_value(cursor, static_cast<GgufType>(type), value)) {
      return bad_file(where + " " + std::string(*problem) + ": the file is cut short or damaged");
    }
    if (!metadata.add(key, value)) {
      return bad_file(where + " stands there twice");
    }
  }
  return {};
}

Result<std::uint64_t> read_alignment(const GgufMetadata& metadata) {
  if (!metadata.has(kAlignmentKey)) {
    return kDefaultAlignment;
  }
  ASSIGN_OR_RETURN(const std::int64_t alignment, metadata.integer(kAlignmentKey));
  if (alignment < 1 || alignment > kMaxAlignment ||
      !std::has_single_bit(static_cast<std::uint64_t>(alignment))) {
    return bad_file(
        metadata.what() + ": \"general.alignment\" is " + std::to_string(alignment) +
        "; expected a power of two"
    );
  }
  return static_cast<std::uint64_t>(alignment);
}

}  // namespace

Result<GgufContents> parse_gguf(
    std::span<const std::byte> file, std::string_view what, std::span<const BlockType> block_types
) {
  const std::string name(what);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  GgufCursor cursor(bytes);
  ASSIGN_OR_RETURN(const Header header, read_header(cursor, bytes, name));
  GgufContents contents{.version = header.version, .metadata = GgufMetadata(name), .tensors = {}};
  RETURN_IF_ERROR(read_metadata(cursor, header.num_values, name, contents.metadata));
  ASSIGN_OR_RETURN(const std::uint64_t alignment, read_alignment(contents.metadata));
  ASSIGN_OR_RETURN(
      std::vector<GgufTensorEntry> entries,
      read_gguf_tensors(cursor, header.num_tensors, block_types, name)
  );
  // A file without data may end where its list does.
  const std::uint64_t data_begin = (cursor.position() + alignment - 1) / alignment * alignment;
  const std::string_view data = data_begin < bytes.size() ? bytes.substr(data_begin) : "";
  RETURN_IF_ERROR(place_gguf_tensors(entries, data, alignment, name));
  contents.tensors.reserve(entries.size());
  for (GgufTensorEntry& entry : entries) {
    contents.tensors.push_back(std::move(entry.info));
  }
  return contents;
}

}  // namespace rapt
