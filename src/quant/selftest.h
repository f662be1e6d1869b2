#pragma once

#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "tensor/stream.h"

namespace rapt {

// How one format's multiply in one linear mode compared with the reference, bit by bit.
struct LinearCheck {
  std::string kernel;  // "mxfp4, i16"
  int num_cases = 0;
  int num_passed = 0;
  std::string worst_case = {};  // the last one that failed; "" when all passed
};

// Multiplies random weights of every format with random rows at `level`, from the checkpoint's
// layout and from the prepared one, and compares each bit with the reference loops. Takes well
// under a second a level. For `rapt selftest`; any thread that owns the pool.
std::vector<LinearCheck> selftest_linears(ThreadPool& pool, CpuLevel level);

}  // namespace rapt
