#include "attention/planned_attention.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace rapt {
namespace {

struct Call {
  std::string backend;
  std::vector<std::int32_t> sequences;
  bool operator==(const Call&) const = default;
};

class RecordingBackend : public AttentionBackend {
 public:
  RecordingBackend(std::string name, std::vector<Call>& calls)
      : name_(std::move(name)), calls_(calls) {}

  std::string_view name() const override { return name_; }

  bool supports(const AttentionSpec&) const override { return true; }

  void run(
      const Stream&,
      const AttentionSpec&,
      const KVLayerView&,
      const AttentionMetadata&,
      std::span<const std::int32_t> sequences,
      Tensor,
      Tensor
  ) override {
    calls_.push_back({name_, {sequences.begin(), sequences.end()}});
  }

 private:
  std::string name_;
  std::vector<Call>& calls_;
};

// A step of the given row counts, over which a plan is run.
class PlannedAttentionTest : public ::testing::Test {
 protected:
  std::unique_ptr<AttentionBackend> backend(std::string name) {
    return std::make_unique<RecordingBackend>(std::move(name), calls_);
  }

  std::vector<Call> calls_of(
      PlannedAttention& plan, const std::vector<int>& rows_of_sequences, std::int64_t window
  ) {
    AttentionMetadata metadata;
    // One entry more than counts: it must not be looked at.
    metadata.sequences.resize(rows_of_sequences.size() + 1);
    metadata.num_sequences = static_cast<std::int32_t>(rows_of_sequences.size());
    for (std::size_t idx = 0; idx < rows_of_sequences.size(); ++idx) {
      metadata.sequences[idx].num_rows = rows_of_sequences[idx];
    }
    calls_.clear();
    const AttentionSpec spec{.window = window, .sinks = Sinks::none()};
    plan.run(Stream{}, spec, KVLayerView{}, metadata, Tensor(), Tensor());
    return calls_;
  }

  std::vector<Call> calls_;
};

TEST_F(PlannedAttentionTest, CallsOneBackendOnceForEverything) {
  PlannedAttention plan(backend("a"));
  const std::vector<Call> expected = {{"a", {0, 1, 2}}};
  EXPECT_EQ(calls_of(plan, {1, 7, 1}, 0), expected);
  EXPECT_EQ(calls_of(plan, {1, 7, 1}, 128), expected);
  EXPECT_TRUE(calls_of(plan, {}, 0).empty());
}

TEST_F(PlannedAttentionTest, SendsEachSequenceToItsSlot) {
  std::vector<std::unique_ptr<AttentionBackend>> backends;
  for (const char* name : {"pf", "ps", "df", "ds"}) {
    backends.push_back(backend(name));
  }
  PlannedAttention plan(std::move(backends), {0, 1, 2, 3});
  EXPECT_EQ(calls_of(plan, {1, 7, 1, 2}, 0), (std::vector<Call>{{"df", {0, 2}}, {"pf", {1, 3}}}));
  EXPECT_EQ(calls_of(plan, {1, 7}, 128), (std::vector<Call>{{"ds", {0}}, {"ps", {1}}}));
  EXPECT_EQ(calls_of(plan, {1, 1}, 128), (std::vector<Call>{{"ds", {0, 1}}}));
  EXPECT_EQ(calls_of(plan, {3}, 0), (std::vector<Call>{{"pf", {0}}}));
  EXPECT_EQ(plan.backend(AttentionSlot::kDecodeSliding).name(), "ds");
}

TEST_F(PlannedAttentionTest, SharesABackendBetweenSlots) {
  std::vector<std::unique_ptr<AttentionBackend>> backends;
  backends.push_back(backend("fast"));
  backends.push_back(backend("safe"));
  PlannedAttention plan(std::move(backends), {0, 0, 0, 1});
  EXPECT_EQ(calls_of(plan, {1, 7}, 0), (std::vector<Call>{{"fast", {0, 1}}}));
  EXPECT_EQ(calls_of(plan, {1, 7}, 4), (std::vector<Call>{{"safe", {0}}, {"fast", {1}}}));
}

TEST_F(PlannedAttentionTest, RefusesAPlanWithoutBackend) {
  std::vector<std::unique_ptr<AttentionBackend>> backends;
  backends.push_back(backend("a"));
  EXPECT_DEATH(PlannedAttention(std::move(backends), {0, 0, 1, 0}), "backend 1");
}

}  // namespace
}  // namespace rapt
