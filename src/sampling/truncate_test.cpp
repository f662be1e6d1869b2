#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sampling/truncate_internal.h"

namespace rapt {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct Row {
  std::vector<float> scores;
  std::vector<float> weights;
};

Row make_row(std::vector<float> logits) {
  const float best = *std::max_element(logits.begin(), logits.end());
  Row row;
  for (const float logit : logits) {
    row.scores.push_back(logit - best);
    row.weights.push_back(std::exp(logit - best));
  }
  return row;
}

std::vector<std::size_t> kept(const Row& row) {
  std::vector<std::size_t> tokens;
  for (std::size_t token = 0; token < row.weights.size(); ++token) {
    if (row.weights[token] > 0.0F) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

// By definition: sort everything, cut the prefix.
std::vector<std::size_t> best_first(const Row& row) {
  std::vector<std::size_t> order = kept(row);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return row.scores[a] > row.scores[b];
  });
  return order;
}

std::vector<std::size_t> expected_top_k(const Row& row, int k) {
  std::vector<std::size_t> order = best_first(row);
  order.resize(std::min(order.size(), static_cast<std::size_t>(k)));
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<std::size_t> expected_top_p(const Row& row, float p) {
  std::vector<std::size_t> order = best_first(row);
  const double total = std::accumulate(row.weights.begin(), row.weights.end(), 0.0);
  double sum = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    sum += static_cast<double>(row.weights[order[rank]]);
    if (sum >= static_cast<double>(p) * total) {
      order.resize(rank + 1);
    }
  }
  std::sort(order.begin(), order.end());
  return order;
}

TEST(Truncator, KeepsTheBestKWithTiesToTheLowerId) {
  Truncator truncator(6);
  Row row = make_row({1.0F, 3.0F, 2.0F, 3.0F, 2.0F, 2.0F});
  truncator.keep_top_k(4, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(1, 2, 3, 4));
}

TEST(Truncator, KeepsTheShortestPrefixThatReachesP) {
  Truncator truncator(4);
  Row row = make_row({0.0F, 0.0F, 0.0F, 0.0F});
  truncator.keep_top_p(0.5F, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(0, 1));
  row = make_row({0.0F, 0.0F, 0.0F, 0.0F});
  truncator.keep_top_p(0.51F, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(0, 1, 2));
}

TEST(Truncator, AlwaysKeepsTheBest) {
  Truncator truncator(3);
  Row row = make_row({0.0F, 5.0F, 1.0F});
  truncator.keep_top_p(1e-9F, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(1));
}

TEST(Truncator, LeavesKeptWeightsAsTheyAre) {
  Truncator truncator(3);
  Row row = make_row({0.0F, 5.0F, 4.0F});
  const std::vector<float> before = row.weights;
  truncator.keep_top_k(2, row.scores, row.weights);
  EXPECT_THAT(row.weights, ElementsAre(0.0F, before[1], before[2]));
}

TEST(Truncator, IgnoresWhatIsOutOfTheGame) {
  Truncator truncator(4);
  Row row = make_row({2.0F, 1.0F, 0.0F, -1.0F});
  row.weights[1] = 0.0F;
  truncator.keep_top_k(2, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(0, 2));
  truncator.keep_top_k(7, row.scores, row.weights);
  EXPECT_THAT(kept(row), ElementsAre(0, 2));
}

// Small and large vocabularies; steep, flat, tied, and equal scores.
TEST(Truncator, AgreesWithSortingEverything) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const int vocab_size = round % 8 == 0 ? 5000 : 1 + static_cast<int>(random() % 60);
    const float spread = std::array{0.0F, 1e-6F, 0.3F, 4.0F, 60.0F}[random() % 5];
    const bool is_tied = random() % 2 == 0;
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> logits(static_cast<std::size_t>(vocab_size));
    for (float& logit : logits) {
      logit = spread * normal(random);
      if (is_tied) {
        logit = std::round(logit);
      }
    }
    Truncator truncator(vocab_size);

    Row row = make_row(logits);
    const int k = 1 + static_cast<int>(random() % static_cast<unsigned>(vocab_size));
    const auto top_k = expected_top_k(row, k);
    truncator.keep_top_k(k, row.scores, row.weights);
    ASSERT_EQ(kept(row), top_k) << "round " << round << " k " << k;

    const float p = std::uniform_real_distribution<float>(0.001F, 0.999F)(random);
    const auto top_p = expected_top_p(row, p);
    truncator.keep_top_p(p, row.scores, row.weights);
    ASSERT_EQ(kept(row), top_p) << "round " << round << " p " << p;
  }
}

}  // namespace
}  // namespace rapt
