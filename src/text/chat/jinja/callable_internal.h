#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

class Runtime;

// What stands between the parentheses of a call.
struct Arguments {
  std::vector<Value> positional = {};
  std::vector<std::pair<std::string, Value>> keywords = {};
};

// Something that a template can call.
class Callable : public Object {
 public:
  virtual Result<Value> call(Runtime& runtime, Arguments arguments) const = 0;

  // See Value::depth().
  virtual int depth() const { return 0; }

  virtual std::string type_name() const { return "function"; }

  // What `callable.name` is; nothing when there is no such attribute.
  virtual std::optional<Value> attribute(std::string_view) const { return std::nullopt; }
};

// A call of a built-in function, its arguments sorted by parameter.
struct Call {
  Runtime& runtime;
  const Value& self;  // what is filtered or tested, or whose method it is
  std::vector<std::optional<Value>> values = {};  // by parameter; nothing where none was given
  Arguments rest = {};                            // of a builtin that takes any

  bool has(std::size_t idx) const { return values[idx].has_value(); }

  const Value& operator[](std::size_t idx) const { return *values[idx]; }

  // The arguments as other types; an error names the parameter's place and the type found.
  Result<Int> integer(std::size_t idx, Int absent) const;
  Result<MarkedText> text(std::size_t idx, std::string_view absent) const;
  bool truth(std::size_t idx, bool absent) const;
};

// A filter, a test, a method or a global function. `parameters` names its parameters with blanks
// between; "?" behind a name: need not be given; "*": any arguments go to Call::rest.
struct Builtin {
  std::string_view name;
  std::string_view parameters;
  Result<Value> (*function)(const Call& call);
};

Result<Value> call_builtin(
    const Builtin& builtin, Runtime& runtime, const Value& self, Arguments arguments
);

// The builtin as a value: a global function, or the method of `self`.
Value bound_builtin(const Builtin& builtin, Value self);

}  // namespace rapt::jinja
