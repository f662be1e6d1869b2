#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/value_internal.h"

// A template as a tree. Names are numbers: places in Program::names.

namespace rapt::jinja {

using NameId = int;

enum class ExprKind {
  kConst,  // `constant`
  kName,   // `id`
  kList,   // operands
  kTuple,
  kDict,       // operands: key, value, key, value
  kAttribute,  // operands[0] . `word`
  kItem,       // operands[0] [ operands[1] ]
  kSlice,      // operands[0] [ operands[1] : operands[2] : operands[3] ], null where absent
  kCall,       // operands[0] ( arguments )
  kFilter,     // operands[0] | builtin ( arguments ); operands[0] null: of a block
  kTest,       // operands[0] is builtin ( arguments )
  kNegative,
  kPositive,
  kNot,
  kAnd,
  kOr,
  kArithmetic,   // operands[0] `word` operands[1]
  kConcat,       // operands joined by ~
  kCompare,      // operands[0] signs[0] operands[1] signs[1] operands[2] ...
  kConditional,  // operands[0] if operands[1] else operands[2] (null where absent)
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct ArgumentSyntax {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  ExprPtr star;       // *x
  ExprPtr star_star;  // **x
};

struct Expr {
  ExprKind kind = ExprKind::kConst;
  int line = 0;
  int height = 1;  // of the tree from here on
  Value constant = {};
  NameId id = 0;
  std::string word = {};
  std::vector<ExprPtr> operands = {};
  std::vector<std::string> signs = {};
  ArgumentSyntax arguments = {};
  const Builtin* builtin = nullptr;  // null: there is no filter or test called `word`
};

// What is assigned to: a name, an attribute of a namespace, or several of them.
struct Target {
  enum class Kind { kName, kAttribute, kTuple };

  Kind kind = Kind::kName;
  int line = 0;
  NameId id = 0;
  std::string attribute = {};
  std::vector<Target> parts = {};
};

struct Stmt;

// Statements with a scope of their own. Names of `unset` begin without a value there, so that what
// is set later in the block hides a variable of the same name from the beginning.
struct Block {
  // Without initializers, here and where blocks are members: Stmt is not complete yet.
  std::vector<Stmt> statements;
  std::vector<NameId> unset;
};

// A macro, or the body of a call block.
struct MacroSyntax {
  std::string name;
  std::vector<NameId> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  Block body;
  // Which of these three names the body reads without declaring them.
  bool takes_varargs = false;
  bool takes_kwargs = false;
  bool takes_caller = false;
};

enum class StmtKind {
  kData,      // `text`
  kOutput,    // expr
  kFor,       // for target in expr if test: blocks[0], else blocks[1]
  kIf,        // the first body whose exprs[i] is true; one body more than exprs: else. No scope
  kSet,       // set target = expr
  kSetBlock,  // set target | expr (a filter chain, may be null): blocks[0]
  kMacro,
  kCallBlock,    // call expr (a call): macro is its body
  kFilterBlock,  // filter expr: blocks[0]
  kWith,         // targets[i] = exprs[i]: blocks[0]
  kScope,        // generation: blocks[0]
  kBreak,
  kContinue,
};

struct Stmt {
  StmtKind kind = StmtKind::kData;
  int line = 0;
  Value text = {};
  ExprPtr expr = {};
  ExprPtr test = {};
  Target target = {};
  bool is_recursive = false;
  std::vector<Target> targets = {};
  std::vector<ExprPtr> exprs = {};
  std::vector<std::vector<Stmt>> bodies;
  std::vector<Block> blocks;
  std::unique_ptr<MacroSyntax> macro = {};
};

struct Program {
  std::vector<std::string> names;
  Block body;
  NameId loop = 0;  // the names that the language itself gives values to
  NameId caller = 0;
  NameId varargs = 0;
  NameId kwargs = 0;
};

}  // namespace rapt::jinja
