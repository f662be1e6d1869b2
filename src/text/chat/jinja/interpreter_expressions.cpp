#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/interpreter_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// The part of the interpreter that works out expressions.

namespace rapt::jinja {

Result<Value> Interpreter::eval(const Expr& expr) {
  const DepthGuard depth(*this);
  RETURN_IF_ERROR(depth.check());
  RETURN_IF_ERROR(runtime_.charge(1));
  line_ = expr.line;
  return eval_unguarded(expr);
}

Result<Value> Interpreter::charged(Result<Value> value) {
  if (value) {
    RETURN_IF_ERROR(runtime_.charge_for(*value));
  }
  return value;
}

// What is found has been charged for when it was made, and a method is no more than a pointer.
Result<Value> Interpreter::charged_if_undefined(Result<Value> value) {
  return value && value->is_undefined() ? charged(std::move(value)) : std::move(value);
}

Result<Value> Interpreter::eval_unguarded(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConst:
      return expr.constant;
    case ExprKind::kName:
      return look_up(expr.id);
    case ExprKind::kList: {
      ASSIGN_OR_RETURN(std::vector<Value> items, eval_all(expr.operands));
      return charged(Value::list(std::move(items)));
    }
    case ExprKind::kTuple: {
      ASSIGN_OR_RETURN(std::vector<Value> items, eval_all(expr.operands));
      return charged(Value::tuple(std::move(items)));
    }
    case ExprKind::kDict:
      return eval_dict(expr);
    case ExprKind::kAttribute: {
      ASSIGN_OR_RETURN(const Value object, eval(*expr.operands[0]));
      line_ = expr.line;
      return charged_if_undefined(get_attribute(runtime_, object, expr.word));
    }
    case ExprKind::kItem: {
      ASSIGN_OR_RETURN(const Value object, eval(*expr.operands[0]));
      ASSIGN_OR_RETURN(const Value key, eval(*expr.operands[1]));
      line_ = expr.line;
      return charged_if_undefined(get_item(runtime_, object, key));
    }
    case ExprKind::kSlice:
      return eval_slice(expr);
    case ExprKind::kCall:
      return eval_call(expr);
    case ExprKind::kFilter:
      return eval_filter(expr);
    case ExprKind::kTest:
      return eval_test(expr);
    case ExprKind::kNegative:
    case ExprKind::kPositive: {
      ASSIGN_OR_RETURN(const Value operand, eval(*expr.operands[0]));
      return expr.kind == ExprKind::kNegative ? negative(operand) : positive(operand);
    }
    case ExprKind::kNot: {
      ASSIGN_OR_RETURN(const Value operand, eval(*expr.operands[0]));
      return Value::boolean(!operand.is_true());
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      ASSIGN_OR_RETURN(Value left, eval(*expr.operands[0]));
      const bool decides = left.is_true() == (expr.kind == ExprKind::kOr);
      return decides ? Result<Value>(std::move(left)) : eval(*expr.operands[1]);
    }
    case ExprKind::kArithmetic: {
      ASSIGN_OR_RETURN(const Value left, eval(*expr.operands[0]));
      ASSIGN_OR_RETURN(const Value right, eval(*expr.operands[1]));
      line_ = expr.line;
      return charged(arithmetic(runtime_, expr.word, left, right));
    }
    case ExprKind::kConcat:
      return eval_concat(expr);
    case ExprKind::kCompare:
      return eval_compare(expr);
    case ExprKind::kConditional:
      return eval_conditional(expr);
  }
  return Value();
}

Result<std::vector<Value>> Interpreter::eval_all(const std::vector<ExprPtr>& exprs) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) {
    ASSIGN_OR_RETURN(Value value, eval(*expr));
    values.push_back(std::move(value));
  }
  return values;
}

Result<Value> Interpreter::eval_dict(const Expr& expr) {
  Dict dict;
  for (std::size_t idx = 0; idx < expr.operands.size(); idx += 2) {
    ASSIGN_OR_RETURN(Value key, eval(*expr.operands[idx]));
    ASSIGN_OR_RETURN(Value value, eval(*expr.operands[idx + 1]));
    RETURN_IF_ERROR(runtime_.charge_reading(key.weight()));
    RETURN_IF_ERROR(dict.put(std::move(key), std::move(value)));
  }
  return charged(Value::dict(std::move(dict)));
}

Result<Value> Interpreter::eval_slice(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value object, eval(*expr.operands[0]));
  Value bounds[3] = {Value::none(), Value::none(), Value::none()};
  for (std::size_t idx = 0; idx < 3; ++idx) {
    if (expr.operands[idx + 1]) {
      ASSIGN_OR_RETURN(bounds[idx], eval(*expr.operands[idx + 1]));
    }
  }
  line_ = expr.line;
  return charged(get_slice(runtime_, object, bounds[0], bounds[1], bounds[2]));
}

Result<Value> Interpreter::eval_compare(const Expr& expr) {
  ASSIGN_OR_RETURN(Value left, eval(*expr.operands[0]));
  for (std::size_t idx = 0; idx < expr.signs.size(); ++idx) {
    ASSIGN_OR_RETURN(Value right, eval(*expr.operands[idx + 1]));
    line_ = expr.line;
    ASSIGN_OR_RETURN(const bool holds, compare(runtime_, expr.signs[idx], left, right));
    if (!holds) {
      return Value::boolean(false);
    }
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::eval_concat(const Expr& expr) {
  MarkedText text;
  for (const ExprPtr& operand : expr.operands) {
    ASSIGN_OR_RETURN(const Value value, eval(*operand));
    RETURN_IF_ERROR(append(text, value, "a text"));
  }
  return Value::text(std::move(text));
}

Result<Value> Interpreter::eval_conditional(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value condition, eval(*expr.operands[1]));
  if (condition.is_true()) {
    return eval(*expr.operands[0]);
  }
  if (expr.operands[2]) {
    return eval(*expr.operands[2]);
  }
  return Value::undefined(
      "the inline if-expression on line " + std::to_string(expr.line) +
      " evaluated to false and no else section was defined."
  );
}

Result<Arguments> Interpreter::eval_arguments(const ArgumentSyntax& syntax) {
  Arguments arguments;
  ASSIGN_OR_RETURN(arguments.positional, eval_all(syntax.positional));
  if (syntax.star) {
    ASSIGN_OR_RETURN(const Value more, eval(*syntax.star));
    ASSIGN_OR_RETURN(std::vector<Value> items, items_of(runtime_, more));
    std::move(items.begin(), items.end(), std::back_inserter(arguments.positional));
  }
  for (const auto& [name, expr] : syntax.keywords) {
    ASSIGN_OR_RETURN(Value value, eval(*expr));
    RETURN_IF_ERROR(runtime_.charge_reading(name.size()));
    arguments.keywords.emplace_back(name, std::move(value));
  }
  if (syntax.star_star) {
    ASSIGN_OR_RETURN(const Value more, eval(*syntax.star_star));
    if (!more.is(Kind::kDict)) {
      return invalid_argument("what stands behind ** must be a dict, not " + more.type_name());
    }
    RETURN_IF_ERROR(runtime_.charge(kStepsAnEntry * more.as_dict().entries().size()));
    for (const auto& [key, value] : more.as_dict().entries()) {
      if (!key.is_text()) {
        return invalid_argument("the keys of a dict behind ** must be strings");
      }
      RETURN_IF_ERROR(runtime_.charge_characters(key.as_bytes().size()));
      arguments.keywords.emplace_back(key.as_bytes(), value);
    }
  }
  return arguments;
}

Result<Value> Interpreter::eval_call(const Expr& expr, const Value* caller) {
  ASSIGN_OR_RETURN(const Value callee, eval(*expr.operands[0]));
  ASSIGN_OR_RETURN(Arguments arguments, eval_arguments(expr.arguments));
  if (caller != nullptr) {
    arguments.keywords.emplace_back("caller", *caller);
  }
  line_ = expr.line;
  return charged(call_value(runtime_, callee, std::move(arguments)));
}

Result<Value> Interpreter::eval_filter(const Expr& expr, const Value* block_text) {
  Value input;
  if (!expr.operands[0]) {
    input = *block_text;
  } else if (block_text != nullptr) {
    ASSIGN_OR_RETURN(input, eval_filter(*expr.operands[0], block_text));
  } else {
    ASSIGN_OR_RETURN(input, eval(*expr.operands[0]));
  }
  line_ = expr.line;
  if (expr.builtin == nullptr) {
    return invalid_argument("there is no filter '" + expr.word + "'");
  }
  ASSIGN_OR_RETURN(Arguments arguments, eval_arguments(expr.arguments));
  line_ = expr.line;
  return charged(call_builtin(*expr.builtin, runtime_, input, std::move(arguments)));
}

Result<Value> Interpreter::eval_test(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value input, eval(*expr.operands[0]));
  line_ = expr.line;
  if (expr.builtin == nullptr) {
    return invalid_argument("there is no test '" + expr.word + "'");
  }
  ASSIGN_OR_RETURN(Arguments arguments, eval_arguments(expr.arguments));
  line_ = expr.line;
  return call_builtin(*expr.builtin, runtime_, input, std::move(arguments));
}

}  // namespace rapt::jinja
