#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/syntax_internal.h"

namespace rapt::jinja {

// Walks a program's tree once. One rendering, one thread.
class Interpreter {
 public:
  Interpreter(const Program& program, const Dict& variables, const RenderOptions& options);

  Result<MarkedText> run();

 private:
  struct Variable {
    NameId id = 0;
    std::optional<Value> value = {};  // nothing: not set yet
  };

  struct Scope {
    Scope* parent = nullptr;
    std::vector<Variable> variables = {};
    bool is_captured = false;  // a macro may come back to it
  };

  enum class Flow { kNext, kBreak, kContinue };

  // What a block printed, when that goes elsewhere.
  struct Captured {
    Flow flow = Flow::kNext;
    Value text = {};
  };

  class ScopeGuard;
  class OutputGuard;
  class DepthGuard;
  class Macro;

  // Statements (interpreter_statements.cpp).
  Result<Flow> run_statements(const std::vector<Stmt>& statements);
  Result<Flow> run_statement(const Stmt& stmt);
  Result<Flow> run_block(const Block& block);
  Result<Captured> capture(const Block& block);
  Result<Flow> define_macro(const Stmt& stmt);
  Result<Flow> run_if(const Stmt& stmt);
  Result<Flow> run_for(const Stmt& stmt, const Value& iterable, int depth0);
  Result<LoopState*> start_loop(const Stmt& stmt, const Value& iterable, int depth0);
  Result<Flow> run_set_block(const Stmt& stmt);
  Result<Flow> run_filter_block(const Stmt& stmt);
  Result<Flow> run_call_block(const Stmt& stmt);
  Result<Flow> run_with(const Stmt& stmt);
  Result<void> assign(const Target& target, Value value);
  Result<void> print(const Value& value);

  // Expressions (interpreter_expressions.cpp).
  Result<Value> eval(const Expr& expr);
  Result<Value> eval_unguarded(const Expr& expr);
  Result<Value> eval_dict(const Expr& expr);
  Result<Value> eval_slice(const Expr& expr);
  Result<Value> eval_compare(const Expr& expr);
  Result<Value> eval_concat(const Expr& expr);
  Result<Value> eval_conditional(const Expr& expr);
  Result<Value> eval_call(const Expr& expr, const Value* caller = nullptr);
  // `block_text` is what a chain without a first operand filters.
  Result<Value> eval_filter(const Expr& expr, const Value* block_text = nullptr);
  Result<Value> eval_test(const Expr& expr);
  Result<Arguments> eval_arguments(const ArgumentSyntax& syntax);
  Result<std::vector<Value>> eval_all(const std::vector<ExprPtr>& exprs);
  // Charges what the value took to make.
  Result<Value> charged(Result<Value> value);
  Result<Value> charged_if_undefined(Result<Value> value);

  // Variables and macros (interpreter_macros.cpp).
  Result<Value> look_up(NameId id);
  Result<void> set_variable(NameId id, Value value);
  Result<Value> make_macro(const MacroSyntax& syntax);
  // Appends str() of the value to `out`.
  Result<void> append(MarkedText& out, const Value& value, std::string_view what);
  Result<Value> call_macro(const MacroSyntax& syntax, Scope* home, Arguments arguments);
  Result<void> bind_parameters(const MacroSyntax& syntax, Arguments& arguments);

  const Program& program_;
  Runtime runtime_;
  std::vector<std::optional<Value>> globals_;  // by name: variables of the rendering, functions
  Scope root_;
  Scope* scope_ = &root_;
  MarkedText* out_ = nullptr;
  std::vector<std::unique_ptr<Scope>> captured_scopes_;
  int depth_ = 0;
  int line_ = 1;  // of what was begun last: where an error happened
};

// Enters a new scope inside `parent`, and goes back at its end to the scope there was.
class Interpreter::ScopeGuard {
 public:
  ScopeGuard(Interpreter& interpreter, Scope* parent)
      : interpreter_(interpreter), outer_(interpreter.scope_), scope_(std::make_unique<Scope>()) {
    scope_->parent = parent;
    interpreter_.scope_ = scope_.get();
  }

  explicit ScopeGuard(Interpreter& interpreter) : ScopeGuard(interpreter, interpreter.scope_) {}

  ~ScopeGuard() {
    interpreter_.scope_ = outer_;
    if (scope_->is_captured) {
      interpreter_.captured_scopes_.push_back(std::move(scope_));
    }
  }

  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Interpreter& interpreter_;
  Scope* outer_;
  std::unique_ptr<Scope> scope_;
};

// Sends output to a text of its own while it lives.
class Interpreter::OutputGuard {
 public:
  explicit OutputGuard(Interpreter& interpreter)
      : interpreter_(interpreter), outer_(interpreter.out_) {
    interpreter_.out_ = &text_;
  }

  ~OutputGuard() { interpreter_.out_ = outer_; }

  OutputGuard(const OutputGuard&) = delete;
  OutputGuard& operator=(const OutputGuard&) = delete;

  Value take() { return Value::text(std::move(text_)); }

 private:
  Interpreter& interpreter_;
  MarkedText* outer_;
  MarkedText text_;
};

// Counts how deep the walk is: what keeps the stack from running out.
class Interpreter::DepthGuard {
 public:
  explicit DepthGuard(Interpreter& interpreter) : interpreter_(interpreter) {
    ++interpreter_.depth_;
  }

  ~DepthGuard() { --interpreter_.depth_; }

  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

  Result<void> check() const;

 private:
  Interpreter& interpreter_;
};

}  // namespace rapt::jinja
