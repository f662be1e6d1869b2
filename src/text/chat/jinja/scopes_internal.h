#pragma once

#include "base/result.h"
#include "text/chat/jinja/syntax_internal.h"

namespace rapt::jinja {

// Works out which variables each block has, as Jinja's compiler does: fills in Block::unset and
// what macros take beside their parameters.
//
// A name that a block sets belongs to the block. Before it is set it has no value, even where a
// variable of the rendering has the same name; but where the block has read it before, or sets it
// in one branch of an `if` only, what is outside shows through.
void resolve_scopes(Program& program);

// Fails for a filter or test that nobody knows, unless it stands in a branch of an `if`: that is
// how templates ask first whether there is one.
Result<void> check_builtins(const Program& program);

}  // namespace rapt::jinja
