#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt::openai {

// Reads the fields of one JSON object into typed values. The first mistake is kept and names its
// field; after it the readers go on but return nothing, so that a parse function stays a flat list
// of fields with one check at its end. JSON null counts as absent everywhere.
class FieldReader {
 public:
  // `path` goes before each field's name in errors: "" or, say, "messages[0].". `object` must
  // outlive this.
  FieldReader(const json::object& object, std::string path = "");

  // The field, or nullptr when it is absent or null. It then counts as known.
  const json::value* find(std::string_view name);

  std::optional<bool> boolean(std::string_view name);
  // An integer, also one written as 16.0.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  std::optional<double> number(std::string_view name, double min, double max);
  std::optional<std::string> text(std::string_view name);
  const json::object* object(std::string_view name);
  const json::array* array(std::string_view name);

  std::string path_of(std::string_view name) const { return path_ + std::string(name); }

  // Keeps an error of `name`, unless there is one already.
  void fail(std::string_view name, std::string message, std::string reason = "");
  void fail(Error error);
  void wrong_kind(std::string_view name, std::string_view wanted, const json::value& found);

  bool ok() const { return !error_.has_value(); }

  const Error& error() const { return *error_; }

  // Fields of the object that nobody asked for, in their order.
  std::vector<std::string> unknown() const;

 private:
  const json::object& object_;
  std::string path_;
  std::optional<Error> error_;
  std::vector<std::string_view> known_;
};

// The integer that a JSON number stands for, if it is one and fits.
std::optional<std::int64_t> as_integer(const json::value& value);

// A value as error messages show it: at most 40 bytes of JSON.
std::string shown(const json::value& value);

}  // namespace rapt::openai
