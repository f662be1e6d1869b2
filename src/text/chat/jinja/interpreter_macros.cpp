#include <algorithm>
#include <iterator>

#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/interpreter_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// The part of the interpreter that knows variables and macros.

namespace rapt::jinja {

// A macro as a value: where it was made, that is what it sees.
class Interpreter::Macro final : public Callable {
 public:
  Macro(Interpreter& interpreter, const MacroSyntax& syntax, Scope* home)
      : interpreter_(interpreter), syntax_(syntax), home_(home) {}

  Result<Value> call(Runtime&, Arguments arguments) const override {
    return interpreter_.call_macro(syntax_, home_, std::move(arguments));
  }

  std::string type_name() const override { return "Macro '" + shortened(syntax_.name) + "'"; }

  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "name") {
      return Value::text(syntax_.name);
    }
    if (name == "arguments") {
      std::vector<Value> names;
      for (const NameId id : syntax_.parameters) {
        names.push_back(Value::text(interpreter_.program_.names[static_cast<std::size_t>(id)]));
      }
      return Value::tuple(std::move(names));
    }
    return std::nullopt;
  }

 private:
  Interpreter& interpreter_;
  const MacroSyntax& syntax_;
  Scope* home_;
};

Interpreter::Interpreter(
    const Program& program, const Dict& variables, const RenderOptions& options
)
    : program_(program), runtime_(options) {
  globals_.reserve(program.names.size());
  for (const std::string& name : program.names) {
    const Value* value = variables.find(name);
    globals_.push_back(
        value != nullptr ? std::optional<Value>(*value)
                         : find_global(name, options.date.has_value())
    );
  }
}

Result<Value> Interpreter::look_up(NameId id) {
  const auto undefined = [&]() -> Result<Value> {
    const std::string& name = program_.names[static_cast<std::size_t>(id)];
    return charged(Value::undefined("'" + shortened(name) + "' is undefined"));
  };
  std::uint64_t num_passed = 0;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    const auto found = std::ranges::find(scope->variables, id, &Variable::id);
    num_passed += 1 + static_cast<std::uint64_t>(found - scope->variables.begin());
    if (found != scope->variables.end()) {
      RETURN_IF_ERROR(runtime_.charge(num_passed / kVariablesAStep));
      return found->value ? *found->value : undefined();
    }
  }
  RETURN_IF_ERROR(runtime_.charge(num_passed / kVariablesAStep));
  const std::optional<Value>& global = globals_[static_cast<std::size_t>(id)];
  return global ? *global : undefined();
}

Result<void> Interpreter::set_variable(NameId id, Value value) {
  RETURN_IF_ERROR(runtime_.charge(scope_->variables.size() / kVariablesAStep));
  for (Variable& variable : scope_->variables) {
    if (variable.id == id) {
      variable.value = std::move(value);
      return {};
    }
  }
  scope_->variables.push_back({id, std::move(value)});
  return {};
}

// The scopes that it sees live on to the end of the rendering.
Result<Value> Interpreter::make_macro(const MacroSyntax& syntax) {
  RETURN_IF_ERROR(runtime_.charge(kStepsAnObject));
  for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    scope->is_captured = true;
  }
  return Value::callable(std::make_unique<Macro>(*this, syntax, scope_));
}

Result<Value> Interpreter::call_macro(const MacroSyntax& syntax, Scope* home, Arguments arguments) {
  const DepthGuard depth(*this);
  RETURN_IF_ERROR(depth.check());
  const int line = line_;
  OutputGuard output(*this);
  const ScopeGuard scope(*this, home);
  RETURN_IF_ERROR(bind_parameters(syntax, arguments));
  RETURN_IF_ERROR(run_block(syntax.body));
  line_ = line;
  return output.take();
}

// As in Python: by place, then by name, then the defaults, which see the parameters before them.
Result<void> Interpreter::bind_parameters(const MacroSyntax& syntax, Arguments& arguments) {
  const std::string quoted = "'" + shortened(syntax.name) + "'";
  RETURN_IF_ERROR(
      runtime_.charge(syntax.parameters.size() * (1 + arguments.keywords.size()) / kVariablesAStep)
  );
  std::vector<Value>& given = arguments.positional;
  const std::size_t num_given = std::min(given.size(), syntax.parameters.size());
  const auto take_keyword = [&](std::string_view name) -> std::optional<Value> {
    const auto found =
        std::ranges::find(arguments.keywords, name, &std::pair<std::string, Value>::first);
    if (found == arguments.keywords.end()) {
      return std::nullopt;
    }
    Value value = std::move(found->second);
    arguments.keywords.erase(found);
    return value;
  };
  bool has_caller_parameter = false;
  for (std::size_t idx = 0; idx < syntax.parameters.size(); ++idx) {
    const NameId id = syntax.parameters[idx];
    has_caller_parameter = has_caller_parameter || id == program_.caller;
    std::optional<Value> value;
    if (idx < num_given) {
      value = std::move(given[idx]);
    } else {
      value = take_keyword(program_.names[static_cast<std::size_t>(id)]);
    }
    scope_->variables.push_back({id, std::move(value)});
  }
  if (syntax.takes_caller && !has_caller_parameter) {
    std::optional<Value> caller = take_keyword("caller");
    RETURN_IF_ERROR(set_variable(
        program_.caller, caller ? *std::move(caller) : Value::undefined("No caller defined")
    ));
  }
  if (syntax.takes_kwargs) {
    Dict rest;
    RETURN_IF_ERROR(runtime_.charge(kStepsAnEntry * arguments.keywords.size()));
    for (auto& [name, value] : arguments.keywords) {
      rest.put(std::move(name), std::move(value));
    }
    RETURN_IF_ERROR(set_variable(program_.kwargs, Value::dict(std::move(rest))));
  } else if (!arguments.keywords.empty()) {
    return invalid_argument(
        "macro " + quoted + " takes no keyword argument '" +
        shortened(arguments.keywords[0].first) + "'"
    );
  }
  if (syntax.takes_varargs) {
    RETURN_IF_ERROR(set_variable(
        program_.varargs,
        Value::tuple(
            {std::make_move_iterator(given.begin() + static_cast<std::ptrdiff_t>(num_given)),
             std::make_move_iterator(given.end())}
        )
    ));
  } else if (given.size() > num_given) {
    return invalid_argument(
        "macro " + quoted + " takes not more than " + std::to_string(syntax.parameters.size()) +
        " argument(s)"
    );
  }
  const std::size_t num_required = syntax.parameters.size() - syntax.defaults.size();
  for (std::size_t idx = 0; idx < syntax.parameters.size(); ++idx) {
    if (scope_->variables[idx].value) {
      continue;
    }
    Value value = Value::undefined(
        "parameter '" +
        shortened(program_.names[static_cast<std::size_t>(syntax.parameters[idx])]) +
        "' was not provided"
    );
    if (idx >= num_required) {
      ASSIGN_OR_RETURN(value, eval(*syntax.defaults[idx - num_required]));
    }
    scope_->variables[idx].value = std::move(value);
  }
  return {};
}

}  // namespace rapt::jinja
