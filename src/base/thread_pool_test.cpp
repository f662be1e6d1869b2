#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "base/spinner_internal.h"

namespace rapt {
namespace {

using std::chrono::nanoseconds;

// Pools that sleep at once, that spin as usual, and that never sleep during a test.
class ThreadPoolTest : public ::testing::TestWithParam<nanoseconds> {};

INSTANTIATE_TEST_SUITE_P(
    Spins,
    ThreadPoolTest,
    ::testing::Values(
        nanoseconds(0), nanoseconds(ThreadPool::kDefaultSpin), nanoseconds(std::chrono::hours(1))
    )
);

TEST_P(ThreadPoolTest, VisitsEachIndexOnce) {
  for (const int num_threads : {1, 2, 3, 8}) {
    ThreadPool pool(num_threads, GetParam());
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1000}) {
      for (const std::int64_t grain : {-1, 0, 1, 3, 1000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LT(begin, end);
          EXPECT_LE(end - begin, std::max<std::int64_t>(grain, 1));
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

TEST_P(ThreadPoolTest, WritesOfAJobAreSeenByTheNext) {
  ThreadPool pool(4, GetParam());
  std::vector<int> values(256, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(256, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t idx = begin; idx < end; ++idx) {
        EXPECT_EQ(values[static_cast<std::size_t>(idx)], round);
        ++values[static_cast<std::size_t>(idx)];
      }
    });
  }
  for (const int value : values) {
    ASSERT_EQ(value, 2000);
  }
}

// Jobs of changing size and body follow each other at once, so a worker that comes late finds
// another job than it was called for.
TEST_P(ThreadPoolTest, LateWorkersTakePiecesOfTheJobThatIsThere) {
  ThreadPool pool(3, GetParam());
  std::mt19937 generator(7);
  for (int round = 0; round < 3000; ++round) {
    const auto count = static_cast<std::int64_t>(generator() % 40 + 1);
    const auto grain = static_cast<std::int64_t>(generator() % 3 + 1);
    std::vector<int> seen(static_cast<std::size_t>(count), -1);
    pool.parallel_for(count, grain, [&seen, round](std::int64_t begin, std::int64_t end) {
      for (std::int64_t idx = begin; idx < end; ++idx) {
        seen[static_cast<std::size_t>(idx)] = round;
      }
    });
    ASSERT_EQ(seen, std::vector<int>(static_cast<std::size_t>(count), round));
  }
}

// One piece is held until all others are done: the rest may not wait behind it.
TEST_P(ThreadPoolTest, APieceThatTakesLongHoldsNoOtherUp) {
  ThreadPool pool(2, GetParam());
  constexpr int kCount = 100;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> num_done{0};
    std::atomic<bool> is_held{false};
    pool.parallel_for(kCount, 1, [&](std::int64_t, std::int64_t) {
      if (!is_held.exchange(true)) {
        while (num_done.load() < kCount - 1) {
          std::this_thread::yield();
        }
      }
      num_done.fetch_add(1);
    });
    ASSERT_EQ(num_done.load(), kCount);
  }
}

TEST_P(ThreadPoolTest, WorkerIndicesAreInRangeAndWorkOneAtATime) {
  ThreadPool pool(4, GetParam());
  std::vector<std::atomic<int>> inside(4);
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for_workers(64, 1, [&](int worker_idx, std::int64_t, std::int64_t) {
      ASSERT_GE(worker_idx, 0);
      ASSERT_LT(worker_idx, 4);
      auto& here = inside[static_cast<std::size_t>(worker_idx)];
      EXPECT_EQ(here.fetch_add(1), 0);
      here.fetch_sub(1);
    });
  }
}

TEST_P(ThreadPoolTest, WakingWithoutWorkDoesNoHarm) {
  ThreadPool pool(3, GetParam());
  for (int round = 0; round < 200; ++round) {
    pool.wake();
    std::atomic<int> num_done{0};
    pool.parallel_for(3, 1, [&](std::int64_t, std::int64_t) { num_done.fetch_add(1); });
    ASSERT_EQ(num_done.load(), 3);
    pool.wake();
  }
}

TEST_P(ThreadPoolTest, EndsWhileWorkersSleepSpinOrStart) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool(4, GetParam());
    if (round % 2 == 0) {
      pool.parallel_for(8, 1, [](std::int64_t, std::int64_t) {});
    }
  }
}

// The owner may change between jobs, as when one thread loads and another serves.
TEST_P(ThreadPoolTest, AnotherThreadMayTakeOver) {
  ThreadPool pool(2, GetParam());
  std::atomic<int> num_done{0};
  const auto job = [&] {
    pool.parallel_for(50, 1, [&](std::int64_t, std::int64_t) { num_done.fetch_add(1); });
  };
  job();
  std::thread(job).join();
  job();
  EXPECT_EQ(num_done.load(), 150);
}

TEST(ThreadPool, CountsTheCallerAsWorkerZero) {
  EXPECT_EQ(ThreadPool(1).num_threads(), 1);
  EXPECT_EQ(ThreadPool(3).num_threads(), 3);
}

TEST(ThreadPool, OnePieceRunsOnTheCaller) {
  ThreadPool pool(4);
  const std::thread::id self = std::this_thread::get_id();
  for (int round = 0; round < 100; ++round) {
    pool.parallel_for_workers(10, 10, [&](int worker_idx, std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(worker_idx, 0);
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(end - begin, 10);
    });
  }
}

TEST(Spinner, SeesWhatIsThereAlready) {
  Spinner spinner(nanoseconds(0));
  EXPECT_TRUE(spinner.wait([] { return true; }));
  EXPECT_FALSE(spinner.wait([] { return false; }));
}

TEST(Spinner, SeesWhatComesWhileItLooks) {
  Spinner spinner{nanoseconds(std::chrono::hours(1))};
  int num_looks = 0;
  EXPECT_TRUE(spinner.wait([&] { return ++num_looks == 1000; }));
}

TEST(Spinner, GivesUpWhenTheTimeIsOver) {
  Spinner spinner{std::chrono::microseconds(50)};
  EXPECT_FALSE(spinner.wait([] { return false; }));
}

TEST(Spinner, SkipsMoreWaitsEachTimeItWasPutAsideAndFewerLater) {
  Spinner spinner{std::chrono::microseconds(50)};
  spinner.skip_next();
  EXPECT_EQ(spinner.num_skips(), 4);
  int num_looks = 0;
  for (int wait = 0; wait < 4; ++wait) {
    EXPECT_FALSE(spinner.wait([&] {
      ++num_looks;
      return false;
    }));
  }
  EXPECT_EQ(num_looks, 4);  // one look a wait
  for (int round = 0; round < 10; ++round) {
    spinner.skip_next();
  }
  EXPECT_EQ(spinner.num_skips(), Spinner::kMaxSkips);
  for (int round = 0; round < 10; ++round) {
    spinner.relax();
  }
  EXPECT_EQ(spinner.num_skips(), 0);
}

}  // namespace
}  // namespace rapt
