#include <algorithm>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/value_text_internal.h"

namespace rapt::jinja {

namespace {

struct Parameter {
  std::string_view name;
  bool is_optional = false;
};

struct Signature {
  std::vector<Parameter> parameters;
  bool takes_any = false;
};

Signature read_signature(std::string_view words) {
  Signature signature;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word == "*") {
      signature.takes_any = true;
      continue;
    }
    const bool is_optional = word.ends_with('?');
    word.remove_suffix(is_optional ? 1 : 0);
    signature.parameters.push_back({word, is_optional});
  }
  return signature;
}

std::string with_parentheses(const Builtin& builtin) {
  return std::string(builtin.name) + "()";
}

// For copying them. Few and short ones are free.
Result<void> charge_arguments(Runtime& runtime, const Arguments& arguments) {
  constexpr std::uint64_t kFew = 4;
  std::uint64_t num_bytes = 0;
  for (const auto& [name, value] : arguments.keywords) {
    num_bytes += name.size();
  }
  const std::uint64_t count = arguments.positional.size() + arguments.keywords.size();
  RETURN_IF_ERROR(runtime.charge(count / kFew));
  return runtime.charge_characters(num_bytes);
}

class BoundBuiltin final : public Callable {
 public:
  BoundBuiltin(const Builtin& builtin, Value self) : builtin_(builtin), self_(std::move(self)) {}

  Result<Value> call(Runtime& runtime, Arguments arguments) const override {
    return call_builtin(builtin_, runtime, self_, std::move(arguments));
  }

  int depth() const override { return self_.depth() + 1; }

  std::string type_name() const override { return "builtin_function_or_method"; }

 private:
  const Builtin& builtin_;
  Value self_;
};

}  // namespace

Result<Int> Call::integer(std::size_t idx, Int absent) const {
  if (!has(idx) || values[idx]->is_none()) {
    return absent;
  }
  if (!values[idx]->is_int()) {
    return invalid_argument(
        "argument " + std::to_string(idx + 1) + " must be an integer, but is a " +
        values[idx]->type_name()
    );
  }
  return values[idx]->as_int();
}

Result<MarkedText> Call::text(std::size_t idx, std::string_view absent) const {
  if (!has(idx)) {
    return MarkedText(std::string(absent), Origin::kTemplate);
  }
  if (!values[idx]->is_text()) {
    return invalid_argument(
        "argument " + std::to_string(idx + 1) + " must be a string, but is a " +
        values[idx]->type_name()
    );
  }
  return values[idx]->as_text();
}

bool Call::truth(std::size_t idx, bool absent) const {
  return has(idx) ? values[idx]->is_true() : absent;
}

Result<Value> call_builtin(
    const Builtin& builtin, Runtime& runtime, const Value& self, Arguments arguments
) {
  RETURN_IF_ERROR(charge_arguments(runtime, arguments));
  const Signature signature = read_signature(builtin.parameters);
  Call call{.runtime = runtime, .self = self};
  if (signature.takes_any) {
    call.rest = std::move(arguments);
    return builtin.function(call);
  }
  call.values.resize(signature.parameters.size());
  if (arguments.positional.size() > signature.parameters.size()) {
    return invalid_argument(
        with_parentheses(builtin) + " takes at most " +
        std::to_string(signature.parameters.size()) + " arguments, but got " +
        std::to_string(arguments.positional.size())
    );
  }
  for (std::size_t idx = 0; idx < arguments.positional.size(); ++idx) {
    call.values[idx] = std::move(arguments.positional[idx]);
  }
  for (auto& [name, value] : arguments.keywords) {
    const auto parameter = std::ranges::find(signature.parameters, name, &Parameter::name);
    if (parameter == signature.parameters.end()) {
      return invalid_argument(
          with_parentheses(builtin) + " has no parameter '" + shortened(name) + "'"
      );
    }
    std::optional<Value>& place =
        call.values[static_cast<std::size_t>(parameter - signature.parameters.begin())];
    if (place) {
      return invalid_argument(with_parentheses(builtin) + " got '" + name + "' twice");
    }
    place = std::move(value);
  }
  for (std::size_t idx = 0; idx < signature.parameters.size(); ++idx) {
    if (!call.values[idx] && !signature.parameters[idx].is_optional) {
      return invalid_argument(
          with_parentheses(builtin) + " needs the argument '" +
          std::string(signature.parameters[idx].name) + "'"
      );
    }
  }
  return builtin.function(call);
}

Value bound_builtin(const Builtin& builtin, Value self) {
  return Value::callable(std::make_unique<BoundBuiltin>(builtin, std::move(self)));
}

}  // namespace rapt::jinja
