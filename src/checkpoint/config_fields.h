#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// Reads the typed fields of one JSON object, such as a model's config.json, and remembers which
// were read, so that the rest can be listed. Errors name the file, the field, what was found and
// what is allowed. A field that is null counts as absent. Keeps a reference to the object.
class ConfigFields {
 public:
  using Names = std::initializer_list<std::string_view>;

  struct IntRange {
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
  };

  struct NumberRange {
    double min = 0.0;
    double max = std::numeric_limits<double>::max();
  };

  // `what` names the object in errors: "DIR/config.json". Fails when `value` is no object.
  static Result<ConfigFields> of(const json::value& value, std::string_view what);

  const std::string& what() const { return what_; }

  // nullptr when absent. Counts as read.
  const json::value* find(std::string_view name);

  // A required field, which may go by several names; two that are present must agree.
  Result<std::int64_t> integer(Names names, IntRange range);
  Result<double> number(Names names, NumberRange range);

  // The same with a value for when none of them is there.
  Result<std::int64_t> integer_or(Names names, IntRange range, std::int64_t fallback);
  Result<double> number_or(Names names, NumberRange range, double fallback);
  Result<bool> boolean_or(std::string_view name, bool fallback);
  Result<std::string> text_or(std::string_view name, std::string_view fallback);

  // Counts fields as read whose value does not matter.
  void skip(Names names);
  // The fields that nobody read, in the object's order; those that are null count as absent.
  std::vector<std::string> unread() const;

  // 'DIR/config.json: "name" is VALUE; PROBLEM': for checks that this class cannot make.
  Error field_error(std::string_view name, std::string_view problem) const;

 private:
  ConfigFields(const json::object& object, std::string what);

  Result<const json::value*> find_any(Names names);
  Error missing(Names names) const;

  const json::object* object_;
  std::string what_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace rapt
