#pragma once

#include "app/flags.h"

namespace rapt {

// Runs checks of kernels at every CPU level that this machine can run and prints a table of them,
// or JSON. `only_attention`: else every part there is (the list in selftest_main.cpp). False when
// at least one check failed.
bool run_selftest(const SelftestOptions& options, bool only_attention);

}  // namespace rapt
