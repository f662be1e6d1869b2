#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/parser_internal.h"

// The part of ExpressionParser that reads what stands behind an operand: attributes, items, calls,
// filters and tests.

namespace rapt::jinja {

namespace {

ExprPtr behind(ExprKind kind, int line, ExprPtr operand) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line;
  expr->operands.push_back(std::move(operand));
  return expr;
}

ExprPtr integer_constant(Int value, int line) {
  auto expr = std::make_unique<Expr>();
  expr->line = line;
  expr->constant = Value::integer(value);
  return expr;
}

}  // namespace

Result<ExprPtr> ExpressionParser::postfix(ExprPtr operand) {
  while (true) {
    const Token& token = tokens_.current();
    if (token.is_operator(".") || token.is_operator("[")) {
      ASSIGN_OR_RETURN(operand, subscript(std::move(operand)));
    } else if (token.is_operator("(")) {
      ASSIGN_OR_RETURN(operand, call(std::move(operand)));
    } else {
      return operand;
    }
  }
}

Result<ExprPtr> ExpressionParser::filters_and_tests(ExprPtr operand) {
  while (true) {
    const Token& token = tokens_.current();
    if (token.is_operator("|")) {
      tokens_.take();
      ASSIGN_OR_RETURN(operand, one_filter(std::move(operand)));
    } else if (token.is_name("is")) {
      ASSIGN_OR_RETURN(operand, test(std::move(operand)));
    } else if (token.is_operator("(")) {
      ASSIGN_OR_RETURN(operand, call(std::move(operand)));
    } else {
      return operand;
    }
  }
}

Result<ExprPtr> ExpressionParser::subscript(ExprPtr operand) {
  const Token sign = tokens_.take();
  if (sign.text == "[") {
    return item(std::move(operand), sign.line);
  }
  const Token attribute = tokens_.take();
  if (attribute.kind == TokenKind::kName) {
    ExprPtr expr = behind(ExprKind::kAttribute, sign.line, std::move(operand));
    expr->word = attribute.text;
    return made(std::move(expr));
  }
  if (attribute.kind != TokenKind::kInteger) {
    return template_error(attribute.line, "expected a name or a number behind '.'");
  }
  ExprPtr expr = behind(ExprKind::kItem, sign.line, std::move(operand));
  expr->operands.push_back(integer_constant(attribute.integer, attribute.line));
  return made(std::move(expr));
}

// Behind the bracket: an index, a slice, or several indices that make a tuple.
Result<ExprPtr> ExpressionParser::item(ExprPtr operand, int line) {
  ExprPtr first;
  if (tokens_.current().is_operator("]")) {
    first = std::make_unique<Expr>();
    first->kind = ExprKind::kTuple;
    first->line = line;
  } else if (!tokens_.current().is_operator(":")) {
    ASSIGN_OR_RETURN(first, expression());
  }
  if (tokens_.current().is_operator(":")) {
    return slice(std::move(operand), std::move(first), line);
  }
  if (tokens_.current().is_operator(",")) {
    first = behind(ExprKind::kTuple, line, std::move(first));
    while (tokens_.skip_operator(",")) {
      ASSIGN_OR_RETURN(ExprPtr next, expression());
      first->operands.push_back(std::move(next));
    }
    ASSIGN_OR_RETURN(first, made(std::move(first)));
  }
  RETURN_IF_ERROR(tokens_.expect_operator("]"));
  ExprPtr expr = behind(ExprKind::kItem, line, std::move(operand));
  expr->operands.push_back(std::move(first));
  return made(std::move(expr));
}

Result<ExprPtr> ExpressionParser::slice(ExprPtr operand, ExprPtr first, int line) {
  ExprPtr expr = behind(ExprKind::kSlice, line, std::move(operand));
  expr->operands.push_back(std::move(first));
  for (int part = 0; part < 2; ++part) {
    ExprPtr bound;
    if (tokens_.skip_operator(":") && !tokens_.current().is_operator(":") &&
        !tokens_.current().is_operator("]")) {
      ASSIGN_OR_RETURN(bound, expression());
    }
    expr->operands.push_back(std::move(bound));
  }
  RETURN_IF_ERROR(tokens_.expect_operator("]"));
  return made(std::move(expr));
}

Result<ExprPtr> ExpressionParser::call(ExprPtr callee) {
  ExprPtr expr = behind(ExprKind::kCall, tokens_.current().line, std::move(callee));
  ASSIGN_OR_RETURN(expr->arguments, arguments());
  return made(std::move(expr));
}

Result<ArgumentSyntax> ExpressionParser::arguments() {
  RETURN_IF_ERROR(tokens_.expect_operator("("));
  ArgumentSyntax read;
  bool needs_comma = false;
  while (!tokens_.skip_operator(")")) {
    if (needs_comma) {
      RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.skip_operator(")")) {
        break;
      }
    }
    RETURN_IF_ERROR(one_argument(read));
    needs_comma = true;
  }
  return read;
}

Result<void> ExpressionParser::one_argument(ArgumentSyntax& read) {
  const Error misplaced = tokens_.fail("an argument stands behind one that must be the last");
  if (tokens_.skip_operator("*")) {
    if (read.star || read.star_star) {
      return misplaced;
    }
    ASSIGN_OR_RETURN(read.star, expression());
    return {};
  }
  if (tokens_.skip_operator("**")) {
    if (read.star_star) {
      return misplaced;
    }
    ASSIGN_OR_RETURN(read.star_star, expression());
    return {};
  }
  const bool is_keyword =
      tokens_.current().kind == TokenKind::kName && tokens_.ahead().is_operator("=");
  if (read.star_star || (!is_keyword && (read.star || !read.keywords.empty()))) {
    return misplaced;
  }
  if (!is_keyword) {
    ASSIGN_OR_RETURN(ExprPtr value, expression());
    read.positional.push_back(std::move(value));
    return {};
  }
  std::string name = tokens_.take().text;
  tokens_.take();
  ASSIGN_OR_RETURN(ExprPtr value, expression());
  read.keywords.emplace_back(std::move(name), std::move(value));
  return {};
}

Result<std::string> ExpressionParser::dotted_name() {
  ASSIGN_OR_RETURN(std::string name, tokens_.take_name());
  while (tokens_.skip_operator(".")) {
    ASSIGN_OR_RETURN(const std::string part, tokens_.take_name());
    name += "." + part;
  }
  return name;
}

// Behind the "|".
Result<ExprPtr> ExpressionParser::one_filter(ExprPtr operand) {
  ExprPtr expr = behind(ExprKind::kFilter, tokens_.current().line, std::move(operand));
  ASSIGN_OR_RETURN(expr->word, dotted_name());
  expr->builtin = find_filter(expr->word);
  if (tokens_.current().is_operator("(")) {
    ASSIGN_OR_RETURN(expr->arguments, arguments());
  }
  return made(std::move(expr));
}

Result<ExprPtr> ExpressionParser::filter_chain() {
  ASSIGN_OR_RETURN(ExprPtr chain, one_filter(nullptr));
  while (tokens_.skip_operator("|")) {
    ASSIGN_OR_RETURN(chain, one_filter(std::move(chain)));
  }
  return chain;
}

// "is not divisibleby 3": an argument may stand without parentheses.
Result<ExprPtr> ExpressionParser::test(ExprPtr operand) {
  const int line = tokens_.take().line;
  const bool is_negated = tokens_.skip_name("not");
  ExprPtr expr = behind(ExprKind::kTest, line, std::move(operand));
  ASSIGN_OR_RETURN(expr->word, dotted_name());
  expr->builtin = find_test(expr->word);
  const Token& token = tokens_.current();
  const bool is_value = token.kind == TokenKind::kString || token.kind == TokenKind::kInteger ||
                        token.kind == TokenKind::kFloat || token.is_operator("[") ||
                        token.is_operator("{");
  const bool is_name = token.kind == TokenKind::kName && !token.is_name("else") &&
                       !token.is_name("or") && !token.is_name("and");
  if (token.is_operator("(")) {
    ASSIGN_OR_RETURN(expr->arguments, arguments());
  } else if (token.is_name("is")) {
    return tokens_.fail("tests cannot be chained with 'is'");
  } else if (is_value || is_name) {
    ASSIGN_OR_RETURN(ExprPtr argument, primary());
    ASSIGN_OR_RETURN(argument, postfix(std::move(argument)));
    expr->arguments.positional.push_back(std::move(argument));
  }
  ASSIGN_OR_RETURN(expr, made(std::move(expr)));
  return is_negated ? made(behind(ExprKind::kNot, line, std::move(expr))) : std::move(expr);
}

}  // namespace rapt::jinja
