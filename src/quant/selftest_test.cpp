#include "quant/selftest.h"

#include <gtest/gtest.h>

namespace rapt {
namespace {

TEST(SelftestLinears, EveryLevelOfThisMachinePasses) {
  ThreadPool pool(2);
  for (const CpuLevel level : runnable_cpu_levels()) {
    const std::vector<LinearCheck> checks = selftest_linears(pool, level);
    EXPECT_EQ(checks.size(), 12U);
    for (const LinearCheck& check : checks) {
      SCOPED_TRACE(std::string(name_of(level)) + " " + check.kernel);
      EXPECT_GE(check.num_cases, 2);
      EXPECT_EQ(check.num_passed, check.num_cases) << check.worst_case;
    }
  }
}

}  // namespace
}  // namespace rapt
