#include "checkpoint/config_fields.h"

#include <utility>

#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

std::string number_text(double value) {
  return to_json_text(json::value(value));
}

std::string allowed_text(std::int64_t min, std::int64_t max) {
  if (max == std::numeric_limits<std::int64_t>::max()) {
    return "an integer from " + std::to_string(min) + " on";
  }
  return "an integer from " + std::to_string(min) + " to " + std::to_string(max);
}

std::string allowed_text(double min, double max) {
  if (max == std::numeric_limits<double>::max()) {
    return "a number from " + number_text(min) + " on";
  }
  return "a number from " + number_text(min) + " to " + number_text(max);
}

bool same_number(const json::value& a, const json::value& b) {
  return a.is_number() && b.is_number() ? a.to_number<double>() == b.to_number<double>() : a == b;
}

}  // namespace

Result<ConfigFields> ConfigFields::of(const json::value& value, std::string_view what) {
  if (!value.is_object()) {
    return bad_file(
        std::string(what) + " is " + std::string(json_kind_name(value)) + "; expected an object"
    );
  }
  return ConfigFields(value.get_object(), std::string(what));
}

ConfigFields::ConfigFields(const json::object& object, std::string what)
    : object_(&object), what_(std::move(what)) {}

const json::value* ConfigFields::find(std::string_view name) {
  const json::value* value = object_->if_contains(name);
  if (value == nullptr) {
    return nullptr;
  }
  read_.emplace(name);
  return value->is_null() ? nullptr : value;
}

Result<const json::value*> ConfigFields::find_any(Names names) {
  const json::value* found = nullptr;
  std::string_view found_name;
  for (const std::string_view name : names) {
    const json::value* value = find(name);
    if (value == nullptr) {
      continue;
    }
    if (found != nullptr && !same_number(*found, *value)) {
      return field_error(
          name, "its other name " + in_quotes(found_name) + " says " + shown_json(*found)
      );
    }
    if (found == nullptr) {
      found = value;
      found_name = name;
    }
  }
  return found;
}

Error ConfigFields::missing(Names names) const {
  std::string all;
  for (const std::string_view name : names) {
    all += (all.empty() ? "" : " or ") + in_quotes(name);
  }
  return bad_file(what_ + " has no " + all + ", which is needed");
}

Error ConfigFields::field_error(std::string_view name, std::string_view problem) const {
  const json::value* value = object_->if_contains(name);
  return bad_file(
      what_ + ": " + in_quotes(name) + " is " + (value ? shown_json(*value) : "missing") + "; " +
      std::string(problem)
  );
}

Result<std::int64_t> ConfigFields::integer(Names names, IntRange range) {
  ASSIGN_OR_RETURN(const json::value* value, find_any(names));
  if (value == nullptr) {
    return missing(names);
  }
  const bool fits =
      value->is_int64() && value->get_int64() >= range.min && value->get_int64() <= range.max;
  if (!fits) {
    return bad_file(
        what_ + ": " + in_quotes(*names.begin()) + " is " + shown_json(*value) + "; expected " +
        allowed_text(range.min, range.max)
    );
  }
  return value->get_int64();
}

Result<double> ConfigFields::number(Names names, NumberRange range) {
  ASSIGN_OR_RETURN(const json::value* value, find_any(names));
  if (value == nullptr) {
    return missing(names);
  }
  const bool fits = value->is_number() && value->to_number<double>() >= range.min &&
                    value->to_number<double>() <= range.max;
  if (!fits) {
    return bad_file(
        what_ + ": " + in_quotes(*names.begin()) + " is " + shown_json(*value) + "; expected " +
        allowed_text(range.min, range.max)
    );
  }
  return value->to_number<double>();
}

Result<std::int64_t> ConfigFields::integer_or(Names names, IntRange range, std::int64_t fallback) {
  ASSIGN_OR_RETURN(const json::value* value, find_any(names));
  return value == nullptr ? Result<std::int64_t>(fallback) : integer(names, range);
}

Result<double> ConfigFields::number_or(Names names, NumberRange range, double fallback) {
  ASSIGN_OR_RETURN(const json::value* value, find_any(names));
  return value == nullptr ? Result<double>(fallback) : number(names, range);
}

Result<bool> ConfigFields::boolean_or(std::string_view name, bool fallback) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_bool()) {
    return field_error(name, "expected true or false");
  }
  return value->get_bool();
}

Result<std::string> ConfigFields::text_or(std::string_view name, std::string_view fallback) {
  const json::value* value = find(name);
  if (value == nullptr) {
    return std::string(fallback);
  }
  if (!value->is_string()) {
    return field_error(name, "expected a string");
  }
  return std::string(value->get_string());
}

void ConfigFields::skip(Names names) {
  for (const std::string_view name : names) {
    find(name);
  }
}

std::vector<std::string> ConfigFields::unread() const {
  std::vector<std::string> names;
  for (const auto& member : *object_) {
    const std::string_view name = member.key();
    if (!read_.contains(name) && !member.value().is_null()) {
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace rapt
