#include "quant/selftest.h"

#include <gtest/gtest.h>

#include "quant/registry_internal.h"

namespace rapt {
namespace {

TEST(SelftestLinears, EveryLevelOfThisMachinePasses) {
  ThreadPool pool(2);
  std::size_t num_layouts = 0;
  for (const WeightFormat& format : weight_formats()) {
    num_layouts += format.blocks.size();
  }
  for (const CpuLevel level : runnable_cpu_levels()) {
    const std::vector<LinearCheck> checks = selftest_linears(pool, level);
    EXPECT_EQ(checks.size(), 3 * num_layouts + 3);  // a mode each, and three float types
    for (const LinearCheck& check : checks) {
      SCOPED_TRACE(std::string(name_of(level)) + " " + check.kernel);
      EXPECT_GE(check.num_cases, 2);
      EXPECT_EQ(check.num_passed, check.num_cases) << check.worst_case;
    }
  }
}

}  // namespace
}  // namespace rapt
