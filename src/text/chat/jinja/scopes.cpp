#include <algorithm>
#include <set>

#include "text/chat/jinja/scopes_internal.h"

namespace rapt::jinja {

namespace {

// Calls `visit` for each expression directly inside, in the order of their places.
template <typename Visit>
void for_each_part(const Expr& expr, const Visit& visit) {
  const auto visit_if_any = [&visit](const ExprPtr& part) {
    if (part) {
      visit(*part);
    }
  };
  std::ranges::for_each(expr.operands, visit_if_any);
  std::ranges::for_each(expr.arguments.positional, visit_if_any);
  for (const auto& [name, value] : expr.arguments.keywords) {
    visit_if_any(value);
  }
  visit_if_any(expr.arguments.star);
  visit_if_any(expr.arguments.star_star);
}

template <typename Visit>
void for_each_name(const Target& target, const Visit& visit) {
  if (target.kind != Target::Kind::kTuple) {
    visit(target);
    return;
  }
  for (const Target& part : target.parts) {
    for_each_name(part, visit);
  }
}

// Which of three names a macro's body reads before it gives them a value itself.
class SpecialNames {
 public:
  SpecialNames(const Program& program, MacroSyntax& macro) : program_(program), macro_(macro) {}

  void visit(const std::vector<Stmt>& statements) {
    for (const Stmt& stmt : statements) {
      visit(stmt);
    }
  }

 private:
  void read(NameId id) {
    if (declared_.count(id) != 0) {
      return;
    }
    macro_.takes_caller = macro_.takes_caller || id == program_.caller;
    macro_.takes_varargs = macro_.takes_varargs || id == program_.varargs;
    macro_.takes_kwargs = macro_.takes_kwargs || id == program_.kwargs;
  }

  void visit(const Expr& expr) {
    if (expr.kind == ExprKind::kName) {
      read(expr.id);
    }
    for_each_part(expr, [this](const Expr& part) { visit(part); });
  }

  void visit(const ExprPtr& expr) {
    if (expr) {
      visit(*expr);
    }
  }

  void declare(const Target& target) {
    for_each_name(target, [this](const Target& name) {
      if (name.kind == Target::Kind::kName) {
        declared_.insert(name.id);
      }
    });
  }

  void visit(const Stmt& stmt) {
    visit(stmt.expr);
    visit(stmt.test);
    for (const ExprPtr& expr : stmt.exprs) {
      visit(expr);
    }
    if (stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kSet) {
      declare(stmt.target);
    }
    if (stmt.macro) {
      for (const ExprPtr& value : stmt.macro->defaults) {
        visit(value);
      }
      visit(stmt.macro->body.statements);
    }
    for (const std::vector<Stmt>& body : stmt.bodies) {
      visit(body);
    }
    for (const Block& block : stmt.blocks) {
      visit(block.statements);
    }
  }

  const Program& program_;
  MacroSyntax& macro_;
  std::set<NameId> declared_;
};

// The variables of one block, while its statements are gone through. A branch of an `if` has what
// it adds to its block's in a Scope of its own, which is small however many variables there are.
struct Scope {
  const Scope* parent = nullptr;
  const Scope* base = nullptr;   // of a branch: what it stands in, in the same block
  std::set<NameId> known = {};   // read or set here, or a parameter
  std::set<NameId> stored = {};  // set here
  std::set<NameId> unset = {};   // without a value until they are set

  bool knows(NameId id) const {
    return known.count(id) != 0 || (base != nullptr && base->knows(id));
  }

  bool stores(NameId id) const {
    return stored.count(id) != 0 || (base != nullptr && base->stores(id));
  }

  bool sees(NameId id) const { return knows(id) || (parent != nullptr && parent->sees(id)); }

  void read(NameId id) {
    if (!sees(id)) {
      known.insert(id);
    }
  }

  void declare(NameId id) {
    known.insert(id);
    stored.insert(id);
    unset.erase(id);
  }

  void store(NameId id) {
    stored.insert(id);
    if (!sees(id)) {
      unset.insert(id);
    }
    known.insert(id);
  }
};

class Resolver {
 public:
  explicit Resolver(Program& program) : program_(program) {}

  void resolve(Block& block, Scope& scope) {
    visit(block.statements, scope);
    block.unset.assign(scope.unset.begin(), scope.unset.end());
    // What is inside sees all that this block has, also what it sets only later.
    resolve_inner(block.statements, scope);
  }

 private:
  void visit(const std::vector<Stmt>& statements, Scope& scope) {
    for (const Stmt& stmt : statements) {
      visit(stmt, scope);
    }
  }

  void read(const Expr& expr, Scope& scope) {
    if (expr.kind == ExprKind::kName) {
      scope.read(expr.id);
    }
    for_each_part(expr, [&](const Expr& part) { read(part, scope); });
  }

  void read(const ExprPtr& expr, Scope& scope) {
    if (expr) {
      read(*expr, scope);
    }
  }

  static void store(const Target& target, Scope& scope) {
    for_each_name(target, [&](const Target& name) {
      if (name.kind == Target::Kind::kName) {
        scope.store(name.id);
      } else {
        scope.read(name.id);
      }
    });
  }

  static void declare(const Target& target, Scope& scope) {
    for_each_name(target, [&](const Target& name) { scope.declare(name.id); });
  }

  // What a statement means for the block it stands in; blocks inside it are no matter here.
  void visit(const Stmt& stmt, Scope& scope) {
    switch (stmt.kind) {
      case StmtKind::kIf:
        visit_if(stmt, 0, scope);
        return;
      case StmtKind::kSet:
        read(stmt.expr, scope);
        store(stmt.target, scope);
        return;
      case StmtKind::kSetBlock:
        store(stmt.target, scope);
        return;
      case StmtKind::kMacro:
        scope.store(stmt.target.id);
        return;
      case StmtKind::kWith:
        for (const ExprPtr& value : stmt.exprs) {
          read(value, scope);
        }
        return;
      default:
        read(stmt.expr, scope);
        return;
    }
  }

  // An "elif" is an "if" in a branch of its own.
  void visit_if(const Stmt& stmt, std::size_t idx, Scope& scope) {
    read(stmt.exprs[idx], scope);
    std::vector<Scope> branches(3, Scope{.parent = scope.parent, .base = &scope});
    visit(stmt.bodies[idx], branches[0]);
    if (idx == 0) {
      for (std::size_t next = 1; next < stmt.exprs.size(); ++next) {
        visit_if(stmt, next, branches[1]);
      }
      if (stmt.bodies.size() > stmt.exprs.size()) {
        visit(stmt.bodies.back(), branches[2]);
      }
    }
    std::set<NameId> newly_stored;
    for (const Scope& branch : branches) {
      for (const NameId id : branch.stored) {
        if (!scope.stores(id)) {
          newly_stored.insert(id);
        }
      }
    }
    for (const Scope& branch : branches) {
      scope.known.insert(branch.known.begin(), branch.known.end());
      scope.stored.insert(branch.stored.begin(), branch.stored.end());
      scope.unset.insert(branch.unset.begin(), branch.unset.end());
    }
    for (const NameId id : newly_stored) {
      scope.unset.erase(id);
    }
  }

  void resolve_inner(std::vector<Stmt>& statements, const Scope& scope) {
    for (Stmt& stmt : statements) {
      for (std::vector<Stmt>& body : stmt.bodies) {
        resolve_inner(body, scope);
      }
      if (stmt.macro) {
        resolve_macro(*stmt.macro, scope);
      }
      for (std::size_t idx = 0; idx < stmt.blocks.size(); ++idx) {
        Scope inner;
        inner.parent = &scope;
        if (stmt.kind == StmtKind::kFor && idx == 0) {
          declare(stmt.target, inner);
          inner.declare(program_.loop);
        }
        for (const Target& target : stmt.targets) {
          declare(target, inner);
        }
        resolve(stmt.blocks[idx], inner);
      }
    }
  }

  void resolve_macro(MacroSyntax& macro, const Scope& scope) {
    SpecialNames(program_, macro).visit(macro.body.statements);
    Scope inner;
    inner.parent = &scope;
    for (const NameId id : macro.parameters) {
      inner.declare(id);
    }
    const std::pair<bool, NameId> specials[] = {
        {macro.takes_caller, program_.caller},
        {macro.takes_varargs, program_.varargs},
        {macro.takes_kwargs, program_.kwargs},
    };
    for (const auto& [is_taken, id] : specials) {
      if (is_taken) {
        inner.declare(id);
      }
    }
    for (const ExprPtr& value : macro.defaults) {
      read(value, inner);
    }
    resolve(macro.body, inner);
  }

  Program& program_;
};

}  // namespace

void resolve_scopes(Program& program) {
  Scope root;
  Resolver(program).resolve(program.body, root);
}

}  // namespace rapt::jinja
