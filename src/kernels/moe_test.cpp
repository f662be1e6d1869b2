#include "kernels/moe.h"

#include <gtest/gtest.h>

#include <vector>

namespace rapt {
namespace {

TEST(RouteTopK, SoftmaxIsOverTheChosenOnly) {
  ThreadPool pool(1);
  std::vector<float> logits = {0.2F, -1.0F, 3.5F, 0.9F, 2.25F, -0.5F, 1.75F, 1.0F};
  std::vector<std::int32_t> experts(4);
  std::vector<float> weights(4);
  route_top_k(
      Stream{&pool},
      Tensor(logits.data(), DType::kF32, Shape{1, 8}),
      4,
      experts,
      Tensor(weights.data(), DType::kF32, Shape{1, 4})
  );
  EXPECT_EQ(experts, (std::vector<std::int32_t>{2, 4, 6, 7}));
  EXPECT_NEAR(weights[0], 0.6483554915, 1e-6);
  EXPECT_NEAR(weights[1], 0.1857569584, 1e-6);
  EXPECT_NEAR(weights[2], 0.1126672905, 1e-6);
  EXPECT_NEAR(weights[3], 0.0532202596, 1e-6);
}

TEST(RouteTopK, TiesGoToTheLowerExpert) {
  ThreadPool pool(1);
  std::vector<float> logits = {1.0F, 2.0F, 2.0F, 1.0F, 2.0F};
  std::vector<std::int32_t> experts(4);
  std::vector<float> weights(4);
  route_top_k(
      Stream{&pool},
      Tensor(logits.data(), DType::kF32, Shape{1, 5}),
      4,
      experts,
      Tensor(weights.data(), DType::kF32, Shape{1, 4})
  );
  EXPECT_EQ(experts, (std::vector<std::int32_t>{1, 2, 4, 0}));
}

TEST(CombineExperts, AddsInRankOrder) {
  ThreadPool pool(2);
  // Two tokens, two experts each; slots are grouped by expert, so they are not in token order.
  std::vector<float> expert_out = {1e8F, 2.0F, 1.0F, 20.0F, -1e8F, 3.0F, 5.0F, 30.0F};
  const std::vector<std::int32_t> slots = {0, 2, 3, 1};
  std::vector<float> weights = {1.0F, 1.0F, 0.5F, 0.25F};
  std::vector<float> hidden = {1.0F, 1.0F, 0.0F, 0.0F};
  combine_experts(
      Stream{&pool},
      Tensor(expert_out.data(), DType::kF32, Shape{4, 2}),
      slots,
      Tensor(weights.data(), DType::kF32, Shape{2, 2}),
      Tensor(hidden.data(), DType::kF32, Shape{2, 2})
  );
  // The experts cancel before the residual is added: 1 survives beside 1e8.
  EXPECT_EQ(hidden, (std::vector<float>{1.0F, 6.0F, 2.75F, 20.0F}));
}

}  // namespace
}  // namespace rapt
