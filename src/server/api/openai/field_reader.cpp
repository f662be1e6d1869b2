#include <algorithm>
#include <cmath>
#include <limits>

#include "server/api/openai/field_reader_internal.h"

namespace rapt::openai {

namespace {

// Integers up to here are exact in a double.
constexpr double kMaxExactDouble = 9007199254740992.0;

std::string range_text(double min, double max) {
  constexpr double kUnbounded = std::numeric_limits<double>::max();
  if (max >= kUnbounded) {
    return "at least " + to_json_text(min);
  }
  return "from " + to_json_text(min) + " to " + to_json_text(max);
}

}  // namespace

std::optional<std::int64_t> as_integer(const json::value& value) {
  if (value.is_int64()) {
    return value.get_int64();
  }
  if (value.is_double()) {
    const double number = value.get_double();
    if (std::trunc(number) == number && std::abs(number) <= kMaxExactDouble) {
      return static_cast<std::int64_t>(number);
    }
  }
  return std::nullopt;
}

std::string shown(const json::value& value) {
  constexpr std::size_t kMaxShown = 40;
  if (value.is_object() || value.is_array()) {
    return std::string(json_kind_name(value));
  }
  std::string text;
  if (value.is_string() && value.get_string().size() > kMaxShown) {
    const json::string& whole = value.get_string();
    std::size_t end = kMaxShown;
    while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    append_json_string(text, std::string_view(whole).substr(0, end));
    return text + "...";
  }
  append_json_text(text, value);
  return text;
}

FieldReader::FieldReader(const json::object& object, std::string path)
    : object_(object), path_(std::move(path)) {}

const json::value* FieldReader::find(std::string_view name) {
  known_.push_back(name);
  const json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<bool> FieldReader::boolean(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_bool()) {
    wrong_kind(name, "true or false", *value);
    return std::nullopt;
  }
  return value->get_bool();
}

std::optional<std::int64_t> FieldReader::integer(
    std::string_view name, std::int64_t min, std::int64_t max
) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const bool is_whole_number = value->is_uint64() || as_integer(*value).has_value();
  if (!is_whole_number) {
    wrong_kind(name, "an integer", *value);
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = as_integer(*value);
  if (!number || *number < min || *number > max) {
    std::string range = "at least " + std::to_string(min);
    if (max != std::numeric_limits<std::int64_t>::max()) {
      range = "from " + std::to_string(min) + " to " + std::to_string(max);
    } else if (min == std::numeric_limits<std::int64_t>::min()) {
      range = "a signed 64-bit integer";
    }
    fail(
        name,
        path_of(name) + " must be " + range + ", but is " + shown(*value) + ".",
        "invalid_value"
    );
    return std::nullopt;
  }
  return number;
}

std::optional<double> FieldReader::number(std::string_view name, double min, double max) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_number()) {
    wrong_kind(name, "a number", *value);
    return std::nullopt;
  }
  const auto number = value->to_number<double>();
  if (number < min || number > max) {
    fail(
        name,
        path_of(name) + " must be " + range_text(min, max) + ", but is " + shown(*value) + ".",
        "invalid_value"
    );
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> FieldReader::text(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    wrong_kind(name, "a string", *value);
    return std::nullopt;
  }
  return std::string(value->get_string());
}

const json::object* FieldReader::object(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return nullptr;
  }
  if (!value->is_object()) {
    wrong_kind(name, "an object", *value);
    return nullptr;
  }
  return &value->get_object();
}

const json::array* FieldReader::array(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return nullptr;
  }
  if (!value->is_array()) {
    wrong_kind(name, "an array", *value);
    return nullptr;
  }
  return &value->get_array();
}

void FieldReader::fail(std::string_view name, std::string message, std::string reason) {
  fail(Error{ErrorCode::kInvalidArgument, std::move(message), path_of(name), std::move(reason)});
}

void FieldReader::fail(Error error) {
  if (!error_) {
    error_ = std::move(error);
  }
}

void FieldReader::wrong_kind(
    std::string_view name, std::string_view wanted, const json::value& found
) {
  fail(
      name,
      path_of(name) + " must be " + std::string(wanted) + ", but is " +
          std::string(json_kind_name(found)) + ".",
      "invalid_type"
  );
}

std::vector<std::string> FieldReader::unknown() const {
  std::vector<std::string> names;
  for (const auto& member : object_) {
    if (std::ranges::find(known_, std::string_view(member.key())) == known_.end()) {
      names.emplace_back(member.key());
    }
  }
  return names;
}

}  // namespace rapt::openai
