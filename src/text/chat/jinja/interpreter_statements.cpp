#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/interpreter_internal.h"
#include "text/chat/jinja/lexer_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// The part of the interpreter that runs statements.

namespace rapt::jinja {

Result<void> Interpreter::DepthGuard::check() const {
  if (interpreter_.depth_ > interpreter_.runtime_.max_depth()) {
    return invalid_argument(
        "macros and blocks are nested more than " +
        std::to_string(interpreter_.runtime_.max_depth()) + " deep"
    );
  }
  return {};
}

namespace {

// A template may raise an error with all of a conversation in it.
std::string cut_message(const std::string& message) {
  constexpr std::size_t kMaxBytes = 1000;
  return message.size() <= kMaxBytes ? message
                                     : shortened(message, kMaxBytes) + " (cut: the message has " +
                                           std::to_string(message.size()) + " bytes)";
}

}  // namespace

Result<MarkedText> Interpreter::run() {
  MarkedText text;
  out_ = &text;
  for (const NameId id : program_.body.unset) {
    root_.variables.push_back({id});
  }
  const Result<Flow> flow = run_statements(program_.body.statements);
  if (!flow) {
    return template_error(line_, cut_message(flow.error().message));
  }
  return text;
}

Result<Interpreter::Flow> Interpreter::run_statements(const std::vector<Stmt>& statements) {
  const DepthGuard depth(*this);
  RETURN_IF_ERROR(depth.check());
  for (const Stmt& stmt : statements) {
    line_ = stmt.line;
    RETURN_IF_ERROR(runtime_.charge(1));
    ASSIGN_OR_RETURN(const Flow flow, run_statement(stmt));
    if (flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

// In a scope that the caller has entered.
Result<Interpreter::Flow> Interpreter::run_block(const Block& block) {
  RETURN_IF_ERROR(runtime_.charge(kStepsAScope + block.unset.size()));
  for (const NameId id : block.unset) {
    scope_->variables.push_back({id});
  }
  return run_statements(block.statements);
}

Result<Interpreter::Flow> Interpreter::run_statement(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kData:
      RETURN_IF_ERROR(print(stmt.text));
      return Flow::kNext;
    case StmtKind::kOutput: {
      ASSIGN_OR_RETURN(const Value value, eval(*stmt.expr));
      RETURN_IF_ERROR(print(value));
      return Flow::kNext;
    }
    case StmtKind::kIf:
      return run_if(stmt);
    case StmtKind::kFor: {
      ASSIGN_OR_RETURN(const Value iterable, eval(*stmt.expr));
      return run_for(stmt, iterable, 0);
    }
    case StmtKind::kSet: {
      ASSIGN_OR_RETURN(Value value, eval(*stmt.expr));
      RETURN_IF_ERROR(assign(stmt.target, std::move(value)));
      return Flow::kNext;
    }
    case StmtKind::kSetBlock:
      return run_set_block(stmt);
    case StmtKind::kMacro:
      return define_macro(stmt);
    case StmtKind::kCallBlock:
      return run_call_block(stmt);
    case StmtKind::kFilterBlock:
      return run_filter_block(stmt);
    case StmtKind::kWith:
      return run_with(stmt);
    case StmtKind::kScope: {
      const ScopeGuard scope(*this);
      return run_block(stmt.blocks[0]);
    }
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::define_macro(const Stmt& stmt) {
  ASSIGN_OR_RETURN(Value macro, make_macro(*stmt.macro));
  RETURN_IF_ERROR(set_variable(stmt.target.id, std::move(macro)));
  return Flow::kNext;
}

Result<Interpreter::Captured> Interpreter::capture(const Block& block) {
  OutputGuard output(*this);
  const ScopeGuard scope(*this);
  Captured captured;
  ASSIGN_OR_RETURN(captured.flow, run_block(block));
  captured.text = output.take();
  RETURN_IF_ERROR(runtime_.charge_for(captured.text));
  return captured;
}

Result<void> Interpreter::print(const Value& value) {
  if (value.is_forbidden()) {
    return invalid_argument(value.undefined_message());
  }
  return append(*out_, value, "the output");
}

Result<void> Interpreter::append(MarkedText& out, const Value& value, std::string_view what) {
  const std::size_t size_before = out.size();
  append_str(out, value);
  if (out.overflowed()) {
    return text_overflow(what);
  }
  return runtime_.charge_characters(out.size() - size_before);
}

Result<Interpreter::Flow> Interpreter::run_if(const Stmt& stmt) {
  for (std::size_t idx = 0; idx < stmt.exprs.size(); ++idx) {
    ASSIGN_OR_RETURN(const Value condition, eval(*stmt.exprs[idx]));
    if (condition.is_true()) {
      return run_statements(stmt.bodies[idx]);
    }
  }
  const bool has_else = stmt.bodies.size() > stmt.exprs.size();
  return has_else ? run_statements(stmt.bodies.back()) : Flow::kNext;
}

namespace {

// Whether Python could tell the number of items without going through them.
bool has_length(const Value& iterable) {
  return iterable.is_undefined() || iterable.is_text() || iterable.is(Kind::kSequence) ||
         iterable.is(Kind::kDict);
}

}  // namespace

// The loop's condition, and a loop that calls itself, see the scope that the loop stands in.
Result<LoopState*> Interpreter::start_loop(const Stmt& stmt, const Value& iterable, int depth0) {
  RETURN_IF_ERROR(runtime_.charge(kStepsAnObject));
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(runtime_, iterable));
  Scope* outside = scope_;
  LoopState::Test test;
  if (stmt.test) {
    test = [this, &stmt, outside](const Value& item) -> Result<bool> {
      const ScopeGuard scope(*this, outside);
      RETURN_IF_ERROR(assign(stmt.target, item));
      ASSIGN_OR_RETURN(const Value passes, eval(*stmt.test));
      return passes.is_true();
    };
  }
  LoopState::Recurse recurse;
  if (stmt.is_recursive) {
    recurse = [this, &stmt, outside](const Value& inner, int depth) -> Result<Value> {
      const DepthGuard guard(*this);
      RETURN_IF_ERROR(guard.check());
      const ScopeGuard scope(*this, outside);
      OutputGuard output(*this);
      RETURN_IF_ERROR(run_for(stmt, inner, depth));
      return output.take();
    };
  }
  return &runtime_.keep_loop(std::make_unique<LoopState>(
      std::move(items), has_length(iterable), std::move(test), std::move(recurse), depth0
  ));
}

Result<Interpreter::Flow> Interpreter::run_for(
    const Stmt& stmt, const Value& iterable, int depth0
) {
  ASSIGN_OR_RETURN(LoopState* const loop, start_loop(stmt, iterable, depth0));
  bool has_run = false;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_item, loop->advance());
    if (!has_item) {
      break;
    }
    const ScopeGuard scope(*this);
    RETURN_IF_ERROR(set_variable(program_.loop, Value::loop(*loop)));
    RETURN_IF_ERROR(assign(stmt.target, loop->current()));
    ASSIGN_OR_RETURN(const Flow flow, run_block(stmt.blocks[0]));
    // Jinja sees only an iteration that comes to its end: after one that "break" or "continue"
    // leaves, the else part still runs.
    has_run = has_run || flow == Flow::kNext;
    if (flow == Flow::kBreak) {
      break;
    }
  }
  loop->end();
  if (has_run) {
    return Flow::kNext;
  }
  const ScopeGuard scope(*this);
  return run_block(stmt.blocks[1]);
}

Result<Interpreter::Flow> Interpreter::run_set_block(const Stmt& stmt) {
  ASSIGN_OR_RETURN(Captured captured, capture(stmt.blocks[0]));
  if (captured.flow != Flow::kNext) {
    return captured.flow;
  }
  if (stmt.expr) {
    ASSIGN_OR_RETURN(captured.text, eval_filter(*stmt.expr, &captured.text));
  }
  RETURN_IF_ERROR(assign(stmt.target, std::move(captured.text)));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_filter_block(const Stmt& stmt) {
  ASSIGN_OR_RETURN(const Captured captured, capture(stmt.blocks[0]));
  if (captured.flow != Flow::kNext) {
    return captured.flow;
  }
  ASSIGN_OR_RETURN(const Value value, eval_filter(*stmt.expr, &captured.text));
  RETURN_IF_ERROR(print(value));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_call_block(const Stmt& stmt) {
  ASSIGN_OR_RETURN(const Value caller, make_macro(*stmt.macro));
  ASSIGN_OR_RETURN(const Value value, eval_call(*stmt.expr, &caller));
  RETURN_IF_ERROR(print(value));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_with(const Stmt& stmt) {
  ASSIGN_OR_RETURN(std::vector<Value> values, eval_all(stmt.exprs));
  const ScopeGuard scope(*this);
  for (std::size_t idx = 0; idx < values.size(); ++idx) {
    RETURN_IF_ERROR(assign(stmt.targets[idx], std::move(values[idx])));
  }
  return run_block(stmt.blocks[0]);
}

Result<void> Interpreter::assign(const Target& target, Value value) {
  switch (target.kind) {
    case Target::Kind::kName:
      return set_variable(target.id, std::move(value));
    case Target::Kind::kAttribute: {
      ASSIGN_OR_RETURN(const Value space, look_up(target.id));
      if (!space.is(Kind::kNamespace)) {
        return invalid_argument(
            "'" + shortened(program_.names[static_cast<std::size_t>(target.id)]) +
            "' is no namespace, so its attributes cannot be set"
        );
      }
      RETURN_IF_ERROR(runtime_.charge_reading(target.attribute.size()));
      if (target.attribute.starts_with('_')) {
        return invalid_argument(
            "a namespace cannot have the attribute '" + shortened(target.attribute) + "'"
        );
      }
      space.as_namespace().set(target.attribute, std::move(value));
      return {};
    }
    case Target::Kind::kTuple:
      break;
  }
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(runtime_, value));
  if (items.size() != target.parts.size()) {
    return invalid_argument(
        std::to_string(items.size()) + " values cannot be assigned to " +
        std::to_string(target.parts.size()) + " names"
    );
  }
  for (std::size_t idx = 0; idx < items.size(); ++idx) {
    RETURN_IF_ERROR(assign(target.parts[idx], std::move(items[idx])));
  }
  return {};
}

}  // namespace rapt::jinja
