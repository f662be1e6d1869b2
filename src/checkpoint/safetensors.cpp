#include "checkpoint/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "checkpoint/json_keys_internal.h"
#include "checkpoint/message_text_internal.h"
#include "checkpoint/safetensors_entry_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
// The header is an object of objects of arrays; whatever lies deeper is not ours to read.
constexpr int kMaxHeaderDepth = 16;
constexpr std::string_view kMetadataKey = "__metadata__";

std::string bytes_text(std::uint64_t begin, std::uint64_t end) {
  return std::to_string(begin) + " to " + std::to_string(end);
}

// What a file is instead, for the mistakes that people make. Only for files whose first 8 bytes
// cannot be a header's length: the shorter of these signatures could be.
std::optional<std::string_view> foreign_format(std::string_view file) {
  if (file.starts_with("version https://git-lfs")) {
    return "a Git LFS pointer, not the weights themselves; fetch them with `git lfs pull`";
  }
  if (file.starts_with("GGUF")) {
    return "a GGUF file under the name of a safetensors one; rename it to end in .gguf";
  }
  if (file.starts_with("PK\x03\x04")) {
    return "a zip archive, as PyTorch writes; expected safetensors";
  }
  if (file.starts_with("<")) {
    return "an HTML or XML page, as a failed download leaves; expected safetensors";
  }
  return std::nullopt;
}

// Finds the header's text and checks that it fits the file.
Result<std::string_view> header_text(std::string_view file, const std::string& what) {
  if (file.size() < kLengthBytes) {
    return bad_file(
        what + " is " + std::to_string(file.size()) +
        " bytes long; a safetensors file begins with 8 bytes that state its header's length"
    );
  }
  std::uint64_t length = 0;
  for (std::size_t idx = 0; idx < kLengthBytes; ++idx) {
    length |= std::uint64_t{static_cast<unsigned char>(file[idx])} << (8 * idx);
  }
  if (length > kMaxHeaderBytes) {
    if (const auto format = foreign_format(file)) {
      return bad_file(what + " is " + std::string(*format));
    }
    return bad_file(
        what + " states a header of " + std::to_string(length) + " bytes; at most " +
        std::to_string(kMaxHeaderBytes) + " are allowed, so this is no safetensors file"
    );
  }
  if (length > file.size() - kLengthBytes) {
    return bad_file(
        what + " states a header of " + std::to_string(length) + " bytes, but only " +
        std::to_string(file.size() - kLengthBytes) + " follow: the file is cut short"
    );
  }
  const std::string_view header = file.substr(kLengthBytes, length);
  if (!header.starts_with('{')) {
    return bad_file(what + " has a header that does not begin with {, as safetensors' JSON must");
  }
  return header;
}

Result<void> check_metadata(const json::value& value, const std::string& what) {
  if (value.is_null()) {
    return {};
  }
  if (!value.is_object()) {
    return bad_file(
        what + ": \"__metadata__\" is " + std::string(json_kind_name(value)) +
        "; expected an object of strings"
    );
  }
  for (const auto& member : value.get_object()) {
    if (!member.value().is_string()) {
      return bad_file(
          what + ": \"__metadata__\" holds " + std::string(json_kind_name(member.value())) +
          " for " + in_quotes(member.key()) + "; expected a string"
      );
    }
  }
  return {};
}

// The tensors must tile the data: the official reader refuses overlaps, gaps and leftovers too.
Result<void> check_tiling(
    const std::vector<TensorExtent>& extents, std::uint64_t data_size, const std::string& what
) {
  std::uint64_t covered = 0;
  std::string_view previous;
  for (const TensorExtent& extent : extents) {
    const std::string tensor = what + ": tensor " + in_quotes(extent.info.name);
    if (extent.end > data_size) {
      return bad_file(
          tensor + " lies at bytes " + bytes_text(extent.begin, extent.end) +
          " of the data, but the file holds only " + std::to_string(data_size) +
          " bytes of data: it is cut short"
      );
    }
    if (extent.begin < covered) {
      return bad_file(
          tensor + " begins at byte " + std::to_string(extent.begin) +
          " of the data and overlaps tensor " + in_quotes(previous) + ", which ends at byte " +
          std::to_string(covered)
      );
    }
    if (extent.begin > covered) {
      return bad_file(
          tensor + " begins at byte " + std::to_string(extent.begin) + " of the data; expected " +
          std::to_string(covered) + ", since the bytes between belong to no tensor"
      );
    }
    covered = extent.end;
    previous = extent.info.name;
  }
  if (covered != data_size) {
    return bad_file(
        what + " holds " + std::to_string(data_size) + " bytes of data; its tensors end at byte " +
        std::to_string(covered) + ", and the rest belongs to none"
    );
  }
  return {};
}

}  // namespace

Result<std::vector<TensorInfo>> parse_safetensors(
    std::span<const std::byte> file, std::string_view what_view
) {
  const std::string what(what_view);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  ASSIGN_OR_RETURN(const std::string_view header, header_text(text, what));
  const Result<json::value> parsed = parse_json(header, what + ": the header", kMaxHeaderDepth);
  if (!parsed) {
    return as_bad_file(parsed.error());
  }
  if (const auto key = find_duplicate_key(header)) {
    return bad_file(what + ": the header names " + in_quotes(*key) + " twice");
  }

  std::vector<TensorExtent> extents;
  for (const auto& member : parsed->get_object()) {
    const std::string_view name = member.key();
    if (name == kMetadataKey) {
      RETURN_IF_ERROR(check_metadata(member.value(), what));
      continue;
    }
    ASSIGN_OR_RETURN(
        TensorExtent extent,
        parse_safetensors_entry(name, member.value(), what + ": tensor " + in_quotes(name))
    );
    extents.push_back(std::move(extent));
  }
  std::sort(extents.begin(), extents.end(), [](const TensorExtent& a, const TensorExtent& b) {
    return std::tie(a.begin, a.end, a.info.name) < std::tie(b.begin, b.end, b.info.name);
  });
  const std::size_t data_start = kLengthBytes + header.size();
  RETURN_IF_ERROR(check_tiling(extents, file.size() - data_start, what));

  std::vector<TensorInfo> tensors;
  tensors.reserve(extents.size());
  for (TensorExtent& extent : extents) {
    extent.info.data = file.data() + data_start + extent.begin;
    tensors.push_back(std::move(extent.info));
  }
  return tensors;
}

Result<WeightFile> open_safetensors(const std::string& path) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  ASSIGN_OR_RETURN(std::vector<TensorInfo> tensors, parse_safetensors(file.bytes(), path));
  return WeightFile(std::move(file), std::move(tensors));
}

}  // namespace rapt
