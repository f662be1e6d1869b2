#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>

#include "checkpoint/gguf_files_internal.h"
#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kNumDigits = 5;
constexpr std::size_t kMaxListed = 4;
constexpr std::string_view kPartKey = "split.no";
constexpr std::string_view kCountKey = "split.count";
constexpr std::string_view kTensorsKey = "split.tensors.count";

struct PartName {
  std::string stem;
  int count = 0;
};

std::optional<int> number_of(std::string_view digits) {
  int number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = status == std::errc() && end == digits.data() + digits.size();
  return is_whole && number >= 1 ? std::optional(number) : std::nullopt;
}

// STEM-00001-of-00003.gguf
std::optional<PartName> parse_part_name(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  constexpr std::size_t kTailBytes = 1 + kNumDigits + kOf.size() + kNumDigits;
  if (!name.ends_with(kGgufSuffix)) {
    return std::nullopt;
  }
  name.remove_suffix(kGgufSuffix.size());
  if (name.size() < kTailBytes) {
    return std::nullopt;
  }
  const std::string_view tail = name.substr(name.size() - kTailBytes);
  const auto part = number_of(tail.substr(1, kNumDigits));
  const auto count = number_of(tail.substr(tail.size() - kNumDigits));
  if (tail.front() != '-' || tail.substr(1 + kNumDigits, kOf.size()) != kOf || !part || !count ||
      *part > *count) {
    return std::nullopt;
  }
  return PartName{std::string(name.substr(0, name.size() - kTailBytes)), *count};
}

std::string part_name(const PartName& name, int part) {
  char tail[32];
  std::snprintf(tail, sizeof(tail), "-%05d-of-%05d.gguf", part, name.count);
  return name.stem + tail;
}

}  // namespace

bool is_gguf_part(std::string_view file_name) {
  return parse_part_name(file_name).has_value();
}

Result<std::vector<std::string>> gguf_parts(
    std::string_view file_name, const std::vector<std::string>& names, const std::string& what
) {
  const std::optional<PartName> name = parse_part_name(file_name);
  CHECK(name.has_value(), file_name);
  std::vector<std::string> parts;
  for (int part = 1; part <= name->count; ++part) {
    parts.push_back(part_name(*name, part));
    if (std::find(names.begin(), names.end(), parts.back()) == names.end()) {
      return bad_file(
          what + " is a model in " + std::to_string(name->count) + " parts, of which " +
          in_quotes(parts.back()) + " is missing: the download is not complete"
      );
    }
  }
  return parts;
}

Result<std::vector<std::string>> choose_gguf_files(
    const std::vector<std::string>& names, const std::string& folder
) {
  // One name a model: that of its only file or of its first part.
  std::set<std::string> models;
  for (const std::string& name : names) {
    if (name.ends_with(kGgufSuffix)) {
      const auto part = parse_part_name(name);
      models.insert(part ? part_name(*part, 1) : name);
    }
  }
  CHECK(!models.empty(), folder);
  if (models.size() > 1) {
    std::string listed;
    std::size_t num_listed = 0;
    for (const std::string& model : models) {
      if (num_listed++ < kMaxListed) {
        listed += (listed.empty() ? "" : ", ") + in_quotes(model);
      }
    }
    listed += models.size() > kMaxListed ? ", ..." : "";
    return bad_file(
        folder + " holds " + std::to_string(models.size()) + " GGUF models (" + listed +
        "); give the path of one of them"
    );
  }
  if (is_gguf_part(*models.begin())) {
    return gguf_parts(*models.begin(), names, folder);
  }
  return std::vector<std::string>(models.begin(), models.end());
}

Result<void> check_gguf_part(
    const GgufMetadata& metadata, std::size_t part_idx, std::size_t num_parts
) {
  std::int64_t count = 1;
  if (metadata.has(kCountKey)) {
    ASSIGN_OR_RETURN(count, metadata.integer(kCountKey));
  }
  if (count <= 1 && num_parts == 1) {
    return {};
  }
  if (count != static_cast<std::int64_t>(num_parts)) {
    return bad_file(
        metadata.what() + " says that it is one of " + std::to_string(count) + " parts, not of " +
        std::to_string(num_parts) +
        "; the parts of a model must keep their names, NAME-00001-of-0000N.gguf and so on"
    );
  }
  ASSIGN_OR_RETURN(const std::int64_t part, metadata.integer(kPartKey));
  if (part != static_cast<std::int64_t>(part_idx)) {
    return bad_file(
        metadata.what() + ": \"split.no\" is " + std::to_string(part) +
        ", which does not fit the number in the file's name; expected " + std::to_string(part_idx)
    );
  }
  return {};
}

Result<void> check_gguf_total(const GgufMetadata& first, std::int64_t num_tensors) {
  if (!first.has(kTensorsKey)) {
    return {};
  }
  ASSIGN_OR_RETURN(const std::int64_t expected, first.integer(kTensorsKey));
  if (expected != num_tensors) {
    return bad_file(
        first.what() + " says that the model has " + std::to_string(expected) +
        " tensors, but its parts hold " + std::to_string(num_tensors)
    );
  }
  return {};
}

}  // namespace rapt
