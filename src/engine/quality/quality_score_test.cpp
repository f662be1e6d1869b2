#include "engine/quality/quality_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rapt {
namespace {

std::vector<double> log_softmax(const std::vector<float>& logits) {
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  std::vector<double> result;
  for (const float logit : logits) {
    result.push_back(static_cast<double>(logit) - std::log(sum));
  }
  return result;
}

class Differences : public ::testing::TestWithParam<float> {};

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, Differences, ::testing::Values(1e-4F, 0.1F, 3.0F));

TEST_P(Differences, AreScoredByTheDefinitionOfKlAndProbability) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> reference(200);
  std::vector<float> other(200);
  for (std::size_t idx = 0; idx < other.size(); ++idx) {
    reference[idx] = normal(generator);
    other[idx] = reference[idx] + GetParam() * normal(generator);
  }
  const std::vector<double> p = log_softmax(reference);
  const std::vector<double> q = log_softmax(other);
  double kl = 0.0;
  double error_square = 0.0;
  for (std::size_t idx = 0; idx < p.size(); ++idx) {
    kl += std::exp(p[idx]) * (p[idx] - q[idx]);
    error_square += std::pow(static_cast<double>(reference[idx]) - other[idx], 2);
  }
  ReferenceRow row(200);
  row.set(reference);
  const RowScore score = row.compare(other, 17);
  EXPECT_TRUE(score.is_finite);
  EXPECT_NEAR(score.nll, -q[17], 1e-12);
  EXPECT_NEAR(score.kl, kl, 1e-12);
  EXPECT_NEAR(score.error_square, error_square, 1e-9);
}

TEST(QualityScore, HoldsLogitsThatAreFarApart) {
  ReferenceRow row(2);
  row.set(std::vector<float>{0.0F, 1000.0F});
  const RowScore score = row.compare(std::vector<float>{3000.0F, 0.0F}, 1);
  EXPECT_TRUE(score.is_finite);
  EXPECT_DOUBLE_EQ(score.kl, 3000.0);
  EXPECT_DOUBLE_EQ(score.nll, 3000.0);
  EXPECT_FALSE(score.is_same_best);
}

TEST(QualityScore, OfTheReferenceItselfIsNothing) {
  const std::vector<float> logits = {1000.0F, 999.0F, -1000.0F, 998.5F};
  ReferenceRow row(4);
  row.set(logits);
  const RowScore score = row.compare(logits, 0);
  EXPECT_TRUE(score.is_finite) << "large logits overflow nothing";
  EXPECT_EQ(score.kl, 0.0);
  EXPECT_EQ(score.error_square, 0.0);
  EXPECT_TRUE(score.is_same_best);
  EXPECT_NEAR(score.nll, std::log(1.0 + std::exp(-1.0) + std::exp(-1.5)), 1e-12);
}

TEST(QualityScore, ChangesNothingForAConstantAddedToAllLogits) {
  ReferenceRow row(3);
  row.set(std::vector<float>{1.0F, 2.0F, 3.0F});
  const RowScore score = row.compare(std::vector<float>{5.0F, 6.0F, 7.0F}, 2);
  EXPECT_NEAR(score.kl, 0.0, 1e-15);
  EXPECT_EQ(score.error_square, 48.0);
}

TEST(QualityScore, TakesTheFirstOfTheBestAsGreedyDecodingDoes) {
  ReferenceRow row(3);
  row.set(std::vector<float>{1.0F, 2.0F, 2.0F});
  EXPECT_TRUE(row.compare(std::vector<float>{1.0F, 2.0F, 1.0F}, 0).is_same_best);
  EXPECT_FALSE(row.compare(std::vector<float>{1.0F, 1.0F, 2.0F}, 0).is_same_best);
}

TEST(QualityScore, SeesWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ReferenceRow row(2);
  row.set(std::vector<float>{1.0F, 2.0F});
  EXPECT_FALSE(row.compare(std::vector<float>{1.0F, std::nanf("")}, 0).is_finite);
  EXPECT_FALSE(row.compare(std::vector<float>{std::nanf(""), 1.0F}, 0).is_finite);
  EXPECT_FALSE(row.compare(std::vector<float>{1.0F, kInfinity}, 0).is_finite);
  EXPECT_FALSE(row.compare(std::vector<float>{1.0F, -kInfinity}, 0).is_finite);
  row.set(std::vector<float>{1.0F, -kInfinity});
  EXPECT_FALSE(row.compare(std::vector<float>{1.0F, 2.0F}, 0).is_finite);
}

TEST(QualityScore, SumsUpATextsRows) {
  std::vector<RowScore> rows(200);
  for (std::size_t idx = 0; idx < rows.size(); ++idx) {
    rows[idx] = {
        .nll = idx < 100 ? 1.0 : 3.0,
        .kl = static_cast<double>(200 - idx),
        .error_square = 0.01,
        .logits_square = 4.0,
        .is_same_best = idx % 4 != 0,
        .is_finite = true,
    };
  }
  const QualityScore score = summarize(rows);
  EXPECT_EQ(score.num_predictions, 200);
  EXPECT_NEAR(score.perplexity, std::exp(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(score.mean_kl, 100.5);
  EXPECT_DOUBLE_EQ(score.median_kl, 100.0);
  EXPECT_DOUBLE_EQ(score.p99_kl, 198.0);
  EXPECT_DOUBLE_EQ(score.max_kl, 200.0);
  EXPECT_DOUBLE_EQ(score.same_best, 0.75);
  EXPECT_DOUBLE_EQ(score.logits_error, 0.05);
  EXPECT_EQ(summarize({}).num_predictions, 0);
}

}  // namespace
}  // namespace rapt
