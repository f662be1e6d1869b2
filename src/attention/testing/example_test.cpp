// docs/ADD_AN_ATTENTION_BACKEND.md, done: the example's folder and its line in a list are all there
// is of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/backend.h"
#include "attention/probe.h"
#include "attention/select/docs_table.h"
#include "attention/select/select_test_support.h"

namespace rapt {

// Made by the list of this test (CMakeLists.txt).
std::span<const BackendInfo* const> example_backends();

namespace {

using testing::HasSubstr;

std::vector<const BackendInfo*> backends_with_example() {
  const std::span<const BackendInfo* const> usual = test_backends();
  std::vector<const BackendInfo*> all(usual.begin(), usual.end());
  all.insert(all.end(), example_backends().begin(), example_backends().end());
  return all;
}

Result<AttentionPlan> plan_with_example(
    std::string_view device, std::initializer_list<std::string_view> texts
) {
  const std::vector<const BackendInfo*> backends = backends_with_example();
  const std::vector<AttentionSetting> settings = test_settings(texts);
  return select_attention({
      .model = find_attention_preset("gpt-oss-20b").value(),
      .device = test_device(device),
      .settings = settings,
      .backends = backends,
  });
}

TEST(ExampleBackend, IsOnItsListOnly) {
  ASSERT_EQ(example_backends().size(), 1U);
  EXPECT_EQ(example_backends().front()->name, "example");
  EXPECT_EQ(find_attention_backend("example"), nullptr);
}

TEST(ExampleBackend, CanBeNamed) {
  const Result<AttentionPlan> plan = plan_with_example("cpu", {"--attention-backend example"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->only_backend(), example_backends().front());
  EXPECT_THAT(startup_line(*plan), HasSubstr("example[avx512] (command line) | full: double"));
  EXPECT_THAT(messages_of(*plan), HasSubstr("valid, but auto would choose cpu-flash"));
  const Result<AttentionPlan> by_slot =
      plan_with_example("cpu", {"RAPT_ATTENTION_BACKEND=decode=EXAMPLE_BACKEND"});
  EXPECT_EQ(by_slot->at(AttentionSlot::kDecodeFull).backend, example_backends().front());
}

TEST(ExampleBackend, IsInTablesAndErrors) {
  EXPECT_THAT(backends_markdown(backends_with_example()), HasSubstr("| `example` | "));
  EXPECT_THAT(plan_text(*plan_with_example("cpu", {})), HasSubstr("\n example      ok / ok "));
  EXPECT_THAT(
      plan_with_example("cpu", {"--attention-backend exampel"}).error().message,
      HasSubstr("Did you mean example?")
  );
  EXPECT_THAT(
      plan_with_example("sm90", {"--attention-backend example"}).error().message,
      HasSubstr("example runs on CPU but --device is sm90")
  );
}

TEST(ExampleBackend, ComputesAttention) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const BackendInfo& example = *example_backends().front();
  for (const AttentionSlot slot : kAttentionSlots) {
    const ProbeReport report = probe_attention(
        stream,
        example,
        example.variants.front(),
        slot,
        {.model = find_attention_preset("gpt-oss-20b").value()}
    );
    EXPECT_GT(report.num_cases, 0);
    EXPECT_TRUE(report.passed()) << name_of(slot) << ": " << report.worst_case << ", error "
                                 << report.max_error;
  }
}

}  // namespace
}  // namespace rapt
