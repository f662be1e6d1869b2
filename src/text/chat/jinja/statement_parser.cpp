#include <set>

#include "text/chat/jinja/parser_internal.h"
#include "text/chat/jinja/scopes_internal.h"
#include "text/utf8_internal.h"

namespace rapt::jinja {

namespace {

using Names = std::vector<std::string_view>;

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens)
      : tokens_(std::move(tokens)), expressions_(tokens_, names_) {}

  Result<std::unique_ptr<Program>> run() {
    auto program = std::make_unique<Program>();
    program->loop = names_.id_of("loop");
    program->caller = names_.id_of("caller");
    program->varargs = names_.id_of("varargs");
    program->kwargs = names_.id_of("kwargs");
    ASSIGN_OR_RETURN(program->body.statements, statements({}));
    program->names = names_.take();
    RETURN_IF_ERROR(check_builtins(*program));
    resolve_scopes(*program);
    return program;
  }

 private:
  // Statements up to a tag that `ends` names, which is left as the current token; with no `ends`,
  // up to the end of the template.
  Result<std::vector<Stmt>> statements(const Names& ends) {
    if (++depth_ > kMaxSyntaxDepth) {
      return tokens_.fail("blocks are too deeply nested");
    }
    std::vector<Stmt> read;
    while (true) {
      const Token token = tokens_.current();
      if (token.kind == TokenKind::kEnd) {
        if (!ends.empty()) {
          return tokens_.fail(
              "the template ends where '" + std::string(ends.back()) + "' is missing"
          );
        }
        break;
      }
      tokens_.take();
      if (token.kind == TokenKind::kData) {
        read.push_back(start(StmtKind::kData, token.line));
        read.back().text = Value::text(token.text);
      } else if (token.kind == TokenKind::kVariableBegin) {
        read.push_back(start(StmtKind::kOutput, token.line));
        ASSIGN_OR_RETURN(read.back().expr, expressions_.expression_or_tuple());
        RETURN_IF_ERROR(tokens_.expect(TokenKind::kVariableEnd));
      } else {
        if (tokens_.current().kind == TokenKind::kName &&
            std::ranges::find(ends, tokens_.current().text) != ends.end()) {
          break;
        }
        RETURN_IF_ERROR(statement(read));
        RETURN_IF_ERROR(tokens_.expect(TokenKind::kBlockEnd));
      }
    }
    --depth_;
    return read;
  }

  // The rest of a tag and the statements behind it. The tag that ends them is left as with
  // statements(), or is taken with `take_end`.
  Result<std::vector<Stmt>> body(const Names& ends, bool take_end = true) {
    tokens_.skip_operator(":");
    RETURN_IF_ERROR(tokens_.expect(TokenKind::kBlockEnd));
    ASSIGN_OR_RETURN(std::vector<Stmt> read, statements(ends));
    if (take_end) {
      tokens_.take();
    }
    return read;
  }

  Result<Block> block(const Names& ends, bool take_end = true) {
    Block made;
    ASSIGN_OR_RETURN(made.statements, body(ends, take_end));
    return made;
  }

  static Stmt start(StmtKind kind, int line) {
    Stmt stmt;
    stmt.kind = kind;
    stmt.line = line;
    return stmt;
  }

  // A whole statement, from its name to before the end of its last tag.
  Result<void> statement(std::vector<Stmt>& out) {
    const Token token = tokens_.current();
    ASSIGN_OR_RETURN(const std::string name, tokens_.take_name());
    if (name == "print") {
      return print(token.line, out);
    }
    using Reader = Result<Stmt> (StatementParser::*)(int line);
    constexpr std::pair<std::string_view, Reader> kReaders[] = {
        {"if", &StatementParser::if_statement},
        {"for", &StatementParser::for_statement},
        {"set", &StatementParser::set_statement},
        {"macro", &StatementParser::macro_statement},
        {"call", &StatementParser::call_statement},
        {"filter", &StatementParser::filter_statement},
        {"with", &StatementParser::with_statement},
        {"generation", &StatementParser::generation_statement},
        {"break", &StatementParser::break_statement},
        {"continue", &StatementParser::continue_statement},
    };
    for (const auto& [known, reader] : kReaders) {
      if (name == known) {
        ASSIGN_OR_RETURN(Stmt stmt, (this->*reader)(token.line));
        out.push_back(std::move(stmt));
        return {};
      }
    }
    constexpr std::string_view kOtherTemplates[] = {
        "include", "import", "from", "extends", "block"};
    if (std::ranges::find(kOtherTemplates, name) != std::end(kOtherTemplates)) {
      return template_error(
          token.line, "'" + name + "' is not supported: a chat template has no other templates"
      );
    }
    return template_error(
        token.line,
        name.starts_with("end") || name.starts_with("el") ? "unexpected '" + name + "'"
                                                          : "there is no tag '" + name + "'"
    );
  }

  Result<void> print(int line, std::vector<Stmt>& out) {
    while (tokens_.current().kind != TokenKind::kBlockEnd) {
      out.push_back(start(StmtKind::kOutput, line));
      ASSIGN_OR_RETURN(out.back().expr, expressions_.expression());
      if (!tokens_.skip_operator(",")) {
        break;
      }
    }
    return {};
  }

  Result<Stmt> if_statement(int line) {
    Stmt stmt = start(StmtKind::kIf, line);
    while (true) {
      ASSIGN_OR_RETURN(ExprPtr condition, expressions_.expression_or_tuple(false));
      stmt.exprs.push_back(std::move(condition));
      ASSIGN_OR_RETURN(std::vector<Stmt> then, body({"elif", "else", "endif"}, false));
      stmt.bodies.push_back(std::move(then));
      const std::string end = tokens_.take().text;
      if (end == "else") {
        ASSIGN_OR_RETURN(std::vector<Stmt> otherwise, body({"endif"}));
        stmt.bodies.push_back(std::move(otherwise));
      }
      if (end != "elif") {
        return stmt;
      }
    }
  }

  Result<Stmt> for_statement(int line) {
    Stmt stmt = start(StmtKind::kFor, line);
    ASSIGN_OR_RETURN(stmt.target, expressions_.target(false, true));
    RETURN_IF_ERROR(tokens_.expect_name("in"));
    ASSIGN_OR_RETURN(stmt.expr, expressions_.expression_or_tuple(false));
    if (tokens_.skip_name("if")) {
      ASSIGN_OR_RETURN(stmt.test, expressions_.expression());
    }
    stmt.is_recursive = tokens_.skip_name("recursive");
    ++num_loops_;
    ASSIGN_OR_RETURN(Block each, block({"endfor", "else"}, false));
    --num_loops_;
    stmt.blocks.push_back(std::move(each));
    stmt.blocks.emplace_back();
    if (tokens_.take().text == "else") {
      ASSIGN_OR_RETURN(stmt.blocks[1], block({"endfor"}));
    }
    return stmt;
  }

  Result<Stmt> set_statement(int line) {
    Stmt stmt = start(StmtKind::kSet, line);
    ASSIGN_OR_RETURN(stmt.target, expressions_.target(true));
    if (tokens_.skip_operator("=")) {
      ASSIGN_OR_RETURN(stmt.expr, expressions_.expression_or_tuple());
      return stmt;
    }
    stmt.kind = StmtKind::kSetBlock;
    if (tokens_.skip_operator("|")) {
      ASSIGN_OR_RETURN(stmt.expr, expressions_.filter_chain());
    }
    ASSIGN_OR_RETURN(Block inner, block({"endset"}));
    stmt.blocks.push_back(std::move(inner));
    return stmt;
  }

  Result<void> signature(MacroSyntax& macro) {
    RETURN_IF_ERROR(tokens_.expect_operator("("));
    std::set<NameId> known;
    while (!tokens_.skip_operator(")")) {
      if (!macro.parameters.empty()) {
        RETURN_IF_ERROR(tokens_.expect_operator(","));
      }
      ASSIGN_OR_RETURN(const std::string name, tokens_.take_name());
      const NameId id = names_.id_of(name);
      if (!known.insert(id).second) {
        return tokens_.fail("there are two parameters '" + name + "'");
      }
      macro.parameters.push_back(id);
      if (tokens_.skip_operator("=")) {
        ASSIGN_OR_RETURN(ExprPtr value, expressions_.expression());
        macro.defaults.push_back(std::move(value));
      } else if (!macro.defaults.empty()) {
        return tokens_.fail("parameter '" + name + "' needs a default: one before it has one");
      }
    }
    return {};
  }

  // The bodies of macros and call blocks are functions: a loop around them cannot be left there.
  Result<Block> function_body(const Names& ends) {
    const int outer_loops = std::exchange(num_loops_, 0);
    ASSIGN_OR_RETURN(Block made, block(ends));
    num_loops_ = outer_loops;
    return made;
  }

  Result<Stmt> macro_statement(int line) {
    Stmt stmt = start(StmtKind::kMacro, line);
    stmt.macro = std::make_unique<MacroSyntax>();
    ASSIGN_OR_RETURN(stmt.macro->name, tokens_.take_name());
    stmt.target.id = names_.id_of(stmt.macro->name);
    RETURN_IF_ERROR(signature(*stmt.macro));
    ASSIGN_OR_RETURN(stmt.macro->body, function_body({"endmacro"}));
    return stmt;
  }

  Result<Stmt> call_statement(int line) {
    Stmt stmt = start(StmtKind::kCallBlock, line);
    stmt.macro = std::make_unique<MacroSyntax>();
    stmt.macro->name = "caller";
    if (tokens_.current().is_operator("(")) {
      RETURN_IF_ERROR(signature(*stmt.macro));
    }
    ASSIGN_OR_RETURN(stmt.expr, expressions_.expression());
    if (stmt.expr->kind != ExprKind::kCall) {
      return template_error(line, "'call' needs a call");
    }
    ASSIGN_OR_RETURN(stmt.macro->body, function_body({"endcall"}));
    return stmt;
  }

  Result<Stmt> filter_statement(int line) {
    Stmt stmt = start(StmtKind::kFilterBlock, line);
    ASSIGN_OR_RETURN(stmt.expr, expressions_.filter_chain());
    ASSIGN_OR_RETURN(Block inner, block({"endfilter"}));
    stmt.blocks.push_back(std::move(inner));
    return stmt;
  }

  Result<Stmt> with_statement(int line) {
    Stmt stmt = start(StmtKind::kWith, line);
    while (tokens_.current().kind != TokenKind::kBlockEnd) {
      if (!stmt.targets.empty()) {
        RETURN_IF_ERROR(tokens_.expect_operator(","));
      }
      ASSIGN_OR_RETURN(Target target, expressions_.target(false));
      RETURN_IF_ERROR(tokens_.expect_operator("="));
      ASSIGN_OR_RETURN(ExprPtr value, expressions_.expression());
      stmt.targets.push_back(std::move(target));
      stmt.exprs.push_back(std::move(value));
    }
    ASSIGN_OR_RETURN(Block inner, block({"endwith"}));
    stmt.blocks.push_back(std::move(inner));
    return stmt;
  }

  // Marks what an assistant wrote, for training; nothing but a scope here.
  Result<Stmt> generation_statement(int line) {
    Stmt stmt = start(StmtKind::kScope, line);
    ASSIGN_OR_RETURN(Block inner, function_body({"endgeneration"}));
    stmt.blocks.push_back(std::move(inner));
    return stmt;
  }

  Result<Stmt> leave_loop(StmtKind kind, std::string_view word, int line) {
    if (num_loops_ == 0) {
      return template_error(line, "'" + std::string(word) + "' stands outside of a loop");
    }
    return start(kind, line);
  }

  Result<Stmt> break_statement(int line) { return leave_loop(StmtKind::kBreak, "break", line); }

  Result<Stmt> continue_statement(int line) {
    return leave_loop(StmtKind::kContinue, "continue", line);
  }

  TokenReader tokens_;
  NameTable names_;
  ExpressionParser expressions_;
  int depth_ = 0;
  int num_loops_ = 0;
};

}  // namespace

Result<std::unique_ptr<Program>> parse_template(std::string_view source) {
  if (!is_valid_utf8(source)) {
    return invalid_argument("line 1: the template is not valid UTF-8");
  }
  // The longest known are a tenth of this; a template is read into much more memory than it has.
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  if (source.size() > kMaxBytes) {
    return invalid_argument(
        "line 1: the template has " + std::to_string(source.size()) + " bytes; it may have " +
        std::to_string(kMaxBytes)
    );
  }
  ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(source));
  return StatementParser(std::move(tokens)).run();
}

}  // namespace rapt::jinja
