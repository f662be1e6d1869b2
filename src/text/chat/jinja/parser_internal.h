#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/chat/jinja/lexer_internal.h"
#include "text/chat/jinja/syntax_internal.h"

namespace rapt::jinja {

// Reads a whole template. Errors begin with "line N: ".
Result<std::unique_ptr<Program>> parse_template(std::string_view source);

// The tokens of a template, and what both halves of the parser need.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[pos_]; }

  const Token& ahead() const { return tokens_[std::min(pos_ + 1, tokens_.size() - 1)]; }

  Token take() {
    const Token& token = tokens_[pos_];
    pos_ += pos_ + 1 < tokens_.size() ? 1 : 0;
    return token;
  }

  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view sign);
  Result<void> expect_operator(std::string_view sign);
  Result<void> expect_name(std::string_view name);
  Result<void> expect(TokenKind kind);
  Result<std::string> take_name();

  // "unexpected X, expected Y" at the current token.
  Error unexpected(std::string_view expected) const;

  Error fail(const std::string& message) const { return template_error(current().line, message); }

 private:
  std::vector<Token> tokens_;
  std::size_t pos_ = 0;
};

// Numbers for names.
class NameTable {
 public:
  NameId id_of(const std::string& name);

  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId> ids_;
};

// Reads expressions, in the order of precedence that Jinja has (not everywhere Python's: a filter
// binds tighter than a sign, ~ tighter than +).
class ExpressionParser {
 public:
  ExpressionParser(TokenReader& tokens, NameTable& names) : tokens_(tokens), names_(names) {}

  Result<ExprPtr> expression(bool with_condition = true);
  // One expression, or several with commas between: a tuple.
  Result<ExprPtr> expression_or_tuple(bool with_condition = true);
  // What can be assigned to. `ends_at_in`: the target of a for loop.
  Result<Target> target(bool with_attribute, bool ends_at_in = false);
  // The filters of a block: "upper | replace(...)". operands[0] of the innermost is null.
  Result<ExprPtr> filter_chain();

 private:
  using Reader = Result<ExprPtr> (ExpressionParser::*)();

  Result<ExprPtr> conditional();
  Result<ExprPtr> disjunction();
  Result<ExprPtr> conjunction();
  Result<ExprPtr> negation();
  Result<ExprPtr> comparison();
  Result<ExprPtr> sum();
  Result<ExprPtr> concatenation();
  Result<ExprPtr> product();
  Result<ExprPtr> power();
  Result<ExprPtr> unary();
  Result<ExprPtr> unary_without_filters();
  Result<ExprPtr> primary();
  Result<ExprPtr> name_or_constant();
  Result<ExprPtr> tuple_in_parentheses();
  Result<ExprPtr> list(int line);
  Result<ExprPtr> dict(int line);
  Result<ExprPtr> postfix(ExprPtr operand);
  Result<ExprPtr> filters_and_tests(ExprPtr operand);
  Result<ExprPtr> subscript(ExprPtr operand);
  Result<ExprPtr> item(ExprPtr operand, int line);
  Result<ExprPtr> slice(ExprPtr operand, ExprPtr first, int line);
  Result<ExprPtr> call(ExprPtr callee);
  Result<ExprPtr> one_filter(ExprPtr operand);
  Result<ExprPtr> test(ExprPtr operand);
  Result<ArgumentSyntax> arguments();
  Result<void> one_argument(ArgumentSyntax& arguments);
  Result<std::string> dotted_name();
  Result<Target> single_target(bool with_attribute);
  Result<ExprPtr> left_associative(Reader part, std::initializer_list<std::string_view> signs);
  bool is_tuple_end() const;
  Result<ExprPtr> made(ExprPtr expr) const;

  TokenReader& tokens_;
  NameTable& names_;
  int depth_ = 0;
};

// How deep expressions, and statements, may be nested in a template: neither reading it nor
// rendering it may exhaust the stack.
inline constexpr int kMaxSyntaxDepth = 100;

}  // namespace rapt::jinja
