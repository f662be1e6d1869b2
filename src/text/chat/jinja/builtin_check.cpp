#include "text/chat/jinja/lexer_internal.h"
#include "text/chat/jinja/scopes_internal.h"

namespace rapt::jinja {

namespace {

Result<void> check(const ExprPtr& expr);

Result<void> check_all(const std::vector<ExprPtr>& exprs) {
  for (const ExprPtr& expr : exprs) {
    RETURN_IF_ERROR(check(expr));
  }
  return {};
}

Result<void> check(const ExprPtr& expr) {
  if (!expr || expr->kind == ExprKind::kConditional) {
    return {};
  }
  const bool is_filter = expr->kind == ExprKind::kFilter;
  if ((is_filter || expr->kind == ExprKind::kTest) && expr->builtin == nullptr) {
    return template_error(
        expr->line,
        std::string("there is no ") + (is_filter ? "filter" : "test") + " '" + expr->word + "'"
    );
  }
  RETURN_IF_ERROR(check_all(expr->operands));
  RETURN_IF_ERROR(check_all(expr->arguments.positional));
  for (const auto& [name, value] : expr->arguments.keywords) {
    RETURN_IF_ERROR(check(value));
  }
  RETURN_IF_ERROR(check(expr->arguments.star));
  return check(expr->arguments.star_star);
}

Result<void> check_statements(const std::vector<Stmt>& statements) {
  for (const Stmt& stmt : statements) {
    if (stmt.kind == StmtKind::kIf) {
      continue;
    }
    RETURN_IF_ERROR(check(stmt.expr));
    RETURN_IF_ERROR(check(stmt.test));
    RETURN_IF_ERROR(check_all(stmt.exprs));
    if (stmt.macro) {
      RETURN_IF_ERROR(check_all(stmt.macro->defaults));
      RETURN_IF_ERROR(check_statements(stmt.macro->body.statements));
    }
    for (const Block& block : stmt.blocks) {
      RETURN_IF_ERROR(check_statements(block.statements));
    }
  }
  return {};
}

}  // namespace

Result<void> check_builtins(const Program& program) {
  return check_statements(program.body.statements);
}

}  // namespace rapt::jinja
