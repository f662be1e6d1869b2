#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/parser_internal.h"

namespace rapt::jinja {

namespace {

ExprPtr new_expr(ExprKind kind, int line) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line;
  return expr;
}

ExprPtr constant(Value value, int line) {
  ExprPtr expr = new_expr(ExprKind::kConst, line);
  expr->constant = std::move(value);
  return expr;
}

ExprPtr with_operands(ExprKind kind, int line, ExprPtr first, ExprPtr second = nullptr) {
  ExprPtr expr = new_expr(kind, line);
  expr->operands.push_back(std::move(first));
  if (second) {
    expr->operands.push_back(std::move(second));
  }
  return expr;
}

std::optional<Value> named_constant(std::string_view name) {
  if (name == "true" || name == "True") {
    return Value::boolean(true);
  }
  if (name == "false" || name == "False") {
    return Value::boolean(false);
  }
  return name == "none" || name == "None" ? std::optional<Value>(Value::none()) : std::nullopt;
}

bool is_any(const Token& token, std::initializer_list<std::string_view> signs) {
  return std::ranges::any_of(signs, [&](std::string_view sign) { return token.is_operator(sign); });
}

}  // namespace

// Fails where expressions nest too deep, be it in brackets or as a chain of operators.
Result<ExprPtr> ExpressionParser::made(ExprPtr expr) const {
  const auto reach_over = [&expr](const ExprPtr& part) {
    expr->height = std::max(expr->height, part ? part->height + 1 : 0);
  };
  std::ranges::for_each(expr->operands, reach_over);
  std::ranges::for_each(expr->arguments.positional, reach_over);
  for (const auto& [name, value] : expr->arguments.keywords) {
    reach_over(value);
  }
  reach_over(expr->arguments.star);
  reach_over(expr->arguments.star_star);
  if (expr->height > 2 * kMaxSyntaxDepth) {
    return template_error(expr->line, "the expression is too deeply nested");
  }
  return expr;
}

Result<ExprPtr> ExpressionParser::expression(bool with_condition) {
  if (++depth_ > kMaxSyntaxDepth) {
    return tokens_.fail("the expression is too deeply nested");
  }
  Result<ExprPtr> expr = with_condition ? conditional() : disjunction();
  --depth_;
  return expr;
}

Result<ExprPtr> ExpressionParser::conditional() {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr expr, disjunction());
  while (tokens_.skip_name("if")) {
    ASSIGN_OR_RETURN(ExprPtr condition, disjunction());
    ExprPtr otherwise;
    if (tokens_.skip_name("else")) {
      ASSIGN_OR_RETURN(otherwise, expression());
    }
    expr = with_operands(ExprKind::kConditional, line, std::move(expr), std::move(condition));
    expr->operands.push_back(std::move(otherwise));
    ASSIGN_OR_RETURN(expr, made(std::move(expr)));
  }
  return expr;
}

Result<ExprPtr> ExpressionParser::disjunction() {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr left, conjunction());
  while (tokens_.skip_name("or")) {
    ASSIGN_OR_RETURN(ExprPtr right, conjunction());
    ASSIGN_OR_RETURN(
        left, made(with_operands(ExprKind::kOr, line, std::move(left), std::move(right)))
    );
  }
  return left;
}

Result<ExprPtr> ExpressionParser::conjunction() {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr left, negation());
  while (tokens_.skip_name("and")) {
    ASSIGN_OR_RETURN(ExprPtr right, negation());
    ASSIGN_OR_RETURN(
        left, made(with_operands(ExprKind::kAnd, line, std::move(left), std::move(right)))
    );
  }
  return left;
}

Result<ExprPtr> ExpressionParser::negation() {
  const int line = tokens_.current().line;
  int num_negations = 0;
  while (tokens_.skip_name("not")) {
    ++num_negations;
  }
  ASSIGN_OR_RETURN(ExprPtr expr, comparison());
  for (; num_negations > 0; --num_negations) {
    ASSIGN_OR_RETURN(expr, made(with_operands(ExprKind::kNot, line, std::move(expr))));
  }
  return expr;
}

Result<ExprPtr> ExpressionParser::comparison() {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr first, sum());
  ExprPtr compare = with_operands(ExprKind::kCompare, line, std::move(first));
  while (true) {
    std::string sign;
    if (is_any(tokens_.current(), {"==", "!=", "<", "<=", ">", ">="})) {
      sign = tokens_.take().text;
    } else if (tokens_.skip_name("in")) {
      sign = "in";
    } else if (tokens_.current().is_name("not") && tokens_.ahead().is_name("in")) {
      tokens_.take();
      tokens_.take();
      sign = "not in";
    } else {
      break;
    }
    compare->signs.push_back(std::move(sign));
    ASSIGN_OR_RETURN(ExprPtr operand, sum());
    compare->operands.push_back(std::move(operand));
  }
  if (compare->signs.empty()) {
    return std::move(compare->operands[0]);
  }
  return made(std::move(compare));
}

Result<ExprPtr> ExpressionParser::left_associative(
    Reader part, std::initializer_list<std::string_view> signs
) {
  ASSIGN_OR_RETURN(ExprPtr left, (this->*part)());
  while (is_any(tokens_.current(), signs)) {
    const Token sign = tokens_.take();
    ASSIGN_OR_RETURN(ExprPtr right, (this->*part)());
    left = with_operands(ExprKind::kArithmetic, sign.line, std::move(left), std::move(right));
    left->word = sign.text;
    ASSIGN_OR_RETURN(left, made(std::move(left)));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::sum() {
  return left_associative(&ExpressionParser::concatenation, {"+", "-"});
}

Result<ExprPtr> ExpressionParser::concatenation() {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr first, product());
  if (!tokens_.current().is_operator("~")) {
    return first;
  }
  ExprPtr concat = with_operands(ExprKind::kConcat, line, std::move(first));
  while (tokens_.skip_operator("~")) {
    ASSIGN_OR_RETURN(ExprPtr operand, product());
    concat->operands.push_back(std::move(operand));
  }
  return made(std::move(concat));
}

Result<ExprPtr> ExpressionParser::product() {
  return left_associative(&ExpressionParser::power, {"*", "/", "//", "%"});
}

// Left-associative in Jinja.
Result<ExprPtr> ExpressionParser::power() {
  return left_associative(&ExpressionParser::unary, {"**"});
}

Result<ExprPtr> ExpressionParser::unary() {
  ASSIGN_OR_RETURN(ExprPtr expr, unary_without_filters());
  return filters_and_tests(std::move(expr));
}

// Signs bind tighter than filters, and calls and subscripts also go behind them: (-x).y
Result<ExprPtr> ExpressionParser::unary_without_filters() {
  if (++depth_ > kMaxSyntaxDepth) {
    return tokens_.fail("the expression is too deeply nested");
  }
  const Token sign = tokens_.current();
  ExprPtr expr;
  if (is_any(sign, {"-", "+"})) {
    tokens_.take();
    ASSIGN_OR_RETURN(ExprPtr operand, unary_without_filters());
    const ExprKind kind = sign.text == "-" ? ExprKind::kNegative : ExprKind::kPositive;
    ASSIGN_OR_RETURN(expr, made(with_operands(kind, sign.line, std::move(operand))));
  } else {
    ASSIGN_OR_RETURN(expr, primary());
  }
  --depth_;
  return postfix(std::move(expr));
}

Result<ExprPtr> ExpressionParser::primary() {
  const Token token = tokens_.current();
  switch (token.kind) {
    case TokenKind::kName:
      return name_or_constant();
    case TokenKind::kString: {
      std::string text;
      while (tokens_.current().kind == TokenKind::kString) {
        text += tokens_.take().text;
      }
      return constant(Value::text(std::move(text)), token.line);
    }
    case TokenKind::kInteger:
      tokens_.take();
      return constant(Value::integer(token.integer), token.line);
    case TokenKind::kFloat:
      tokens_.take();
      return constant(Value::real(token.real), token.line);
    default:
      break;
  }
  if (tokens_.skip_operator("(")) {
    return tuple_in_parentheses();
  }
  if (tokens_.skip_operator("[")) {
    return list(token.line);
  }
  if (tokens_.skip_operator("{")) {
    return dict(token.line);
  }
  return tokens_.unexpected("an expression");
}

Result<ExprPtr> ExpressionParser::name_or_constant() {
  const Token token = tokens_.take();
  if (auto value = named_constant(token.text)) {
    return constant(*std::move(value), token.line);
  }
  ExprPtr expr = new_expr(ExprKind::kName, token.line);
  expr->id = names_.id_of(token.text);
  return expr;
}

bool ExpressionParser::is_tuple_end() const {
  const Token& token = tokens_.current();
  return token.kind == TokenKind::kVariableEnd || token.kind == TokenKind::kBlockEnd ||
         token.is_operator(")") || token.is_name("recursive");
}

Result<ExprPtr> ExpressionParser::expression_or_tuple(bool with_condition) {
  const int line = tokens_.current().line;
  ASSIGN_OR_RETURN(ExprPtr first, expression(with_condition));
  if (!tokens_.current().is_operator(",")) {
    return first;
  }
  ExprPtr tuple = with_operands(ExprKind::kTuple, line, std::move(first));
  while (tokens_.skip_operator(",") && !is_tuple_end()) {
    ASSIGN_OR_RETURN(ExprPtr item, expression(with_condition));
    tuple->operands.push_back(std::move(item));
  }
  return made(std::move(tuple));
}

Result<ExprPtr> ExpressionParser::tuple_in_parentheses() {
  const int line = tokens_.current().line;
  if (tokens_.skip_operator(")")) {
    return new_expr(ExprKind::kTuple, line);
  }
  ASSIGN_OR_RETURN(ExprPtr expr, expression_or_tuple());
  RETURN_IF_ERROR(tokens_.expect_operator(")"));
  return expr;
}

Result<ExprPtr> ExpressionParser::list(int line) {
  ExprPtr expr = new_expr(ExprKind::kList, line);
  while (!tokens_.skip_operator("]")) {
    if (!expr->operands.empty()) {
      RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.skip_operator("]")) {
        break;
      }
    }
    ASSIGN_OR_RETURN(ExprPtr item, expression());
    expr->operands.push_back(std::move(item));
  }
  return made(std::move(expr));
}

Result<ExprPtr> ExpressionParser::dict(int line) {
  ExprPtr expr = new_expr(ExprKind::kDict, line);
  while (!tokens_.skip_operator("}")) {
    if (!expr->operands.empty()) {
      RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.skip_operator("}")) {
        break;
      }
    }
    ASSIGN_OR_RETURN(ExprPtr key, expression());
    RETURN_IF_ERROR(tokens_.expect_operator(":"));
    ASSIGN_OR_RETURN(ExprPtr value, expression());
    expr->operands.push_back(std::move(key));
    expr->operands.push_back(std::move(value));
  }
  return made(std::move(expr));
}

Result<Target> ExpressionParser::target(bool with_attribute, bool ends_at_in) {
  ASSIGN_OR_RETURN(Target first, single_target(with_attribute));
  if (!tokens_.current().is_operator(",")) {
    return first;
  }
  Target tuple;
  tuple.kind = Target::Kind::kTuple;
  tuple.line = first.line;
  tuple.parts.push_back(std::move(first));
  while (tokens_.skip_operator(",")) {
    if (is_tuple_end() || (ends_at_in && tokens_.current().is_name("in"))) {
      break;
    }
    ASSIGN_OR_RETURN(Target part, single_target(with_attribute));
    tuple.parts.push_back(std::move(part));
  }
  return tuple;
}

Result<Target> ExpressionParser::single_target(bool with_attribute) {
  if (++depth_ > kMaxSyntaxDepth) {
    return tokens_.fail("the assignment is too deeply nested");
  }
  const Token token = tokens_.current();
  if (tokens_.skip_operator("(")) {
    ASSIGN_OR_RETURN(Target inner, target(with_attribute));
    RETURN_IF_ERROR(tokens_.expect_operator(")"));
    --depth_;
    return inner;
  }
  --depth_;
  ASSIGN_OR_RETURN(const std::string name, tokens_.take_name());
  if (named_constant(name)) {
    return template_error(token.line, "'" + name + "' cannot be assigned to");
  }
  Target made_target;
  made_target.line = token.line;
  made_target.id = names_.id_of(name);
  if (with_attribute && tokens_.skip_operator(".")) {
    made_target.kind = Target::Kind::kAttribute;
    ASSIGN_OR_RETURN(made_target.attribute, tokens_.take_name());
  }
  return made_target;
}

}  // namespace rapt::jinja
