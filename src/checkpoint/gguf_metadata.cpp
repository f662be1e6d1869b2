#include "checkpoint/gguf_metadata.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "checkpoint/gguf_bytes_internal.h"
#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

std::string_view plural_of(GgufType type) {
  switch (type) {
    case GgufType::kBool:
      return "truth values";
    case GgufType::kString:
      return "strings";
    case GgufType::kArray:
      return "arrays";
    case GgufType::kF32:
    case GgufType::kF64:
      return "numbers";
    default:
      return "integers";
  }
}

std::string_view one_of(GgufType type) {
  switch (type) {
    case GgufType::kBool:
      return "a truth value";
    case GgufType::kString:
      return "a string";
    case GgufType::kArray:
      return "an array";
    case GgufType::kF32:
    case GgufType::kF64:
      return "a number";
    default:
      return "an integer";
  }
}

template <typename T>
T load(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// Calls visit() with the number that `bytes` hold.
template <typename Visit>
auto visit_number(GgufType type, std::string_view bytes, Visit&& visit) {
  switch (type) {
    case GgufType::kI8:
      return visit(load<std::int8_t>(bytes));
    case GgufType::kU16:
      return visit(load<std::uint16_t>(bytes));
    case GgufType::kI16:
      return visit(load<std::int16_t>(bytes));
    case GgufType::kU32:
      return visit(load<std::uint32_t>(bytes));
    case GgufType::kI32:
      return visit(load<std::int32_t>(bytes));
    case GgufType::kF32:
      return visit(load<float>(bytes));
    case GgufType::kU64:
      return visit(load<std::uint64_t>(bytes));
    case GgufType::kI64:
      return visit(load<std::int64_t>(bytes));
    case GgufType::kF64:
      return visit(load<double>(bytes));
    default:
      return visit(load<std::uint8_t>(bytes));
  }
}

// Nothing for a number past the largest of 64 bits with a sign.
std::optional<std::int64_t> integer_in(GgufType type, std::string_view bytes) {
  return visit_number(type, bytes, [](auto number) -> std::optional<std::int64_t> {
    if constexpr (std::is_integral_v<decltype(number)>) {
      if (std::in_range<std::int64_t>(number)) {
        return static_cast<std::int64_t>(number);
      }
    }
    return std::nullopt;
  });
}

// The double that a float was meant to be: that of its shortest decimal form, so that the 1e-5 of a
// file is the 1e-5 of a config.json.
double double_meant_by(float number) {
  std::array<char, 32> digits{};
  const auto [end, status] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  double meant = number;
  std::from_chars(digits.data(), end, meant);
  return meant;
}

json::value json_of_number(GgufType type, std::string_view bytes) {
  return visit_number(type, bytes, [](auto number) -> json::value {
    if constexpr (std::is_integral_v<decltype(number)>) {
      // As a JSON text would give it: without a sign only when it has to be.
      if (std::in_range<std::int64_t>(number)) {
        return static_cast<std::int64_t>(number);
      }
    }
    if constexpr (std::is_same_v<decltype(number), float>) {
      return double_meant_by(number);
    } else {
      return number;
    }
  });
}

}  // namespace

std::string GgufValue::kind() const {
  if (type != GgufType::kArray) {
    return std::string(one_of(type));
  }
  return "an array of " + std::to_string(num_elements) + " " + std::string(plural_of(element_type));
}

json::value to_json(const GgufValue& value) {
  switch (value.type) {
    case GgufType::kString:
      return json::value(json::string(value.bytes));
    case GgufType::kBool:
      return json::value(value.bytes.front() != '\0');
    case GgufType::kArray:
      break;
    default:
      return json_of_number(value.type, value.bytes);
  }
  json::array list;
  GgufCursor cursor(value.bytes);
  GgufValue element;
  for (std::uint64_t idx = 0; idx < value.num_elements; ++idx) {
    // The whole array was walked through when the file was read: this finds no damage.
    const auto problem = read_gguf_value(cursor, value.element_type, element);
    CHECK(!problem || value.element_type == GgufType::kBool, *problem);
    list.push_back(to_json(element));
  }
  return list;
}

GgufMetadata::GgufMetadata(std::string what) : what_(std::move(what)) {}

bool GgufMetadata::add(std::string_view key, const GgufValue& value) {
  if (!places_.try_emplace(key, entries_.size()).second) {
    return false;
  }
  entries_.emplace_back(key, value);
  return true;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

Error GgufMetadata::key_error(std::string_view key, std::string_view problem) const {
  const GgufValue* value = find(key);
  const std::string found = value == nullptr ? " is missing" : " is " + value->kind();
  return bad_file(what_ + ": " + in_quotes(key) + found + "; " + std::string(problem));
}

Result<const GgufValue*> GgufMetadata::require(std::string_view key, std::string_view expected)
    const {
  const GgufValue* value = find(key);
  if (value == nullptr || value->kind() != expected) {
    return key_error(key, "expected " + std::string(expected));
  }
  return value;
}

Result<const GgufValue*> GgufMetadata::require_array(
    std::string_view key, std::string_view expected
) const {
  const GgufValue* value = find(key);
  if (value == nullptr || value->type != GgufType::kArray ||
      (plural_of(value->element_type) != expected && value->num_elements > 0)) {
    return key_error(key, "expected an array of " + std::string(expected));
  }
  return value;
}

Result<std::string_view> GgufMetadata::text(std::string_view key) const {
  ASSIGN_OR_RETURN(const GgufValue* value, require(key, "a string"));
  return value->bytes;
}

Result<std::int64_t> GgufMetadata::integer(std::string_view key) const {
  ASSIGN_OR_RETURN(const GgufValue* value, require(key, "an integer"));
  const auto number = integer_in(value->type, value->bytes);
  if (!number) {
    return key_error(key, "expected at most 2^63 - 1");
  }
  return *number;
}

Result<std::int64_t> GgufMetadata::token_id(std::string_view key) const {
  ASSIGN_OR_RETURN(const std::int64_t id, integer(key));
  return id == std::numeric_limits<std::uint32_t>::max() ? -1 : id;
}

Result<bool> GgufMetadata::boolean_or(std::string_view key, bool fallback) const {
  if (!has(key)) {
    return fallback;
  }
  ASSIGN_OR_RETURN(const GgufValue* value, require(key, "a truth value"));
  return value->bytes.front() != '\0';
}

Result<std::vector<std::string_view>> GgufMetadata::texts(std::string_view key) const {
  ASSIGN_OR_RETURN(const GgufValue* value, require_array(key, "strings"));
  std::vector<std::string_view> list(value->num_elements);
  GgufCursor cursor(value->bytes);
  for (std::string_view& text : list) {
    CHECK(cursor.read_string(text), key, " was not checked when the file was read");
  }
  return list;
}

Result<std::vector<std::int64_t>> GgufMetadata::integers(std::string_view key) const {
  ASSIGN_OR_RETURN(const GgufValue* value, require_array(key, "integers"));
  std::vector<std::int64_t> list;
  list.reserve(value->num_elements);
  const std::size_t size = gguf_size_of(value->element_type);
  for (std::uint64_t idx = 0; idx < value->num_elements; ++idx) {
    const auto number = integer_in(value->element_type, value->bytes.substr(idx * size, size));
    if (!number) {
      return key_error(key, "expected each to be at most 2^63 - 1");
    }
    list.push_back(*number);
  }
  return list;
}

Result<std::vector<double>> GgufMetadata::numbers(std::string_view key) const {
  const GgufValue* value = find(key);
  const bool are_integers = value != nullptr && value->type == GgufType::kArray &&
                            plural_of(value->element_type) == "integers";
  ASSIGN_OR_RETURN(value, require_array(key, are_integers ? "integers" : "numbers"));
  std::vector<double> list;
  list.reserve(value->num_elements);
  const std::size_t size = gguf_size_of(value->element_type);
  for (std::uint64_t idx = 0; idx < value->num_elements; ++idx) {
    list.push_back(visit_number(
        value->element_type,
        value->bytes.substr(idx * size, size),
        [](auto number) { return static_cast<double>(number); }
    ));
  }
  return list;
}

json::object GgufMetadata::to_json(std::string_view prefix, std::uint64_t max_elements) const {
  json::object object;
  for (const auto& [key, value] : entries_) {
    if (key.starts_with(prefix) && value.num_elements <= max_elements) {
      object.emplace(key, rapt::to_json(value));
    }
  }
  return object;
}

}  // namespace rapt
