#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace rapt {
namespace {

TEST(ThreadPool, VisitsEachIndexOnce) {
  for (const int num_threads : {1, 2, 3, 8}) {
    ThreadPool pool(num_threads);
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1000}) {
      for (const std::int64_t grain : {1, 3, 1000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LE(end - begin, grain);
          for (std::int64_t idx = begin; idx < end; ++idx) {
            visits[static_cast<std::size_t>(idx)].fetch_add(1);
          }
        });
        for (const auto& visit : visits) {
          ASSERT_EQ(visit.load(), 1);
        }
      }
    }
  }
}

TEST(ThreadPool, WritesOfAJobAreSeenAfterIt) {
  ThreadPool pool(4);
  std::vector<int> values(256, 0);
  for (int round = 0; round < 500; ++round) {
    pool.parallel_for(256, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t idx = begin; idx < end; ++idx) {
        ++values[static_cast<std::size_t>(idx)];
      }
    });
  }
  for (const int value : values) {
    ASSERT_EQ(value, 500);
  }
}

TEST(ThreadPool, CountsTheCallerAsWorkerZero) {
  EXPECT_EQ(ThreadPool(1).num_threads(), 1);
  EXPECT_EQ(ThreadPool(3).num_threads(), 3);
}

}  // namespace
}  // namespace rapt
