// Measurements that the cost model understands; how fast anything is, is not tested.

#include "attention/calibrate.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "attention/registry.h"
#include "attention/select/selector.h"

namespace rapt {
namespace {

constexpr CalibrationEffort kNoEffort = {.seconds = 1e-6, .min_bytes = 0};

AttentionModel small_model() {
  AttentionModel model;
  model.name = "small";
  model.family = "gpt-oss";
  model.num_full_layers = 1;
  model.num_sliding_layers = 1;
  model.num_heads = 2;
  model.num_kv_heads = 1;
  model.head_dim = 16;
  model.window = 8;
  model.has_sinks = true;
  model.max_context = 8192;
  return model;
}

TEST(Calibrate, MeasuresEverySlotAndReplacesTheEstimates) {
  ThreadPool pool(2);
  const AttentionModel model = small_model();
  const HostFacts host{.cpu_name = "test CPU", .level = CpuLevel::kScalar, .num_threads = 2};
  const DeviceFacts device = *find_attention_device("cpu", host);
  const Calibration made = calibrate_attention(
      Stream{&pool, CpuLevel::kScalar},
      model,
      device,
      {.bandwidth_gbs = 10.0, .tflops = 0.01},
      kNoEffort
  );
  std::set<std::string> slots;
  for (const Calibration::Entry& entry : made.entries) {
    EXPECT_GT(entry.fixed_us, 0.0) << entry.backend;
    EXPECT_GT(entry.bandwidth_share, 0.0) << entry.backend;
    EXPECT_GT(entry.compute_share, 0.0) << entry.backend;
    slots.insert(entry.backend + " " + std::string(name_of(entry.slot)));
  }
  for (const AttentionSlot slot : kAttentionSlots) {
    EXPECT_TRUE(slots.contains("cpu-ref " + std::string(name_of(slot))));
  }
  const Result<Calibration> read = parse_calibration(calibration_text(made), "the file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->entries.size(), made.entries.size());

  SelectRequest request;
  request.model = model;
  request.device = device;
  request.calibration = &*read;
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan) << plan.error().message;
  for (const BackendStanding& row : plan->table) {
    if (row.backend->make != nullptr) {
      EXPECT_FALSE(row.is_estimate) << row.backend->name;
    }
  }
}

TEST(Calibrate, LayersThatAModelLacksAreNotMeasured) {
  ThreadPool pool(1);
  AttentionModel model = small_model();
  model.num_sliding_layers = 0;
  model.window = 0;
  const DeviceFacts device = *find_attention_device("cpu", HostFacts{.cpu_name = "test CPU"});
  for (const Calibration::Entry& entry : calibrate_attention(
                                             Stream{&pool, CpuLevel::kScalar},
                                             model,
                                             device,
                                             {.bandwidth_gbs = 1, .tflops = 1},
                                             kNoEffort
       )
                                             .entries) {
    EXPECT_EQ(layer_kind_of(entry.slot), AttentionLayerKind::kFull);
  }
}

}  // namespace
}  // namespace rapt
