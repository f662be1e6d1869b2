#include "base/thread_pool.h"

#include <algorithm>
#include <climits>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/futex_internal.h"
#include "base/spinner_internal.h"

namespace rapt {

ThreadPool::ThreadPool(int num_threads, std::chrono::nanoseconds spin) : spin_(spin) {
  CHECK(num_threads >= 1, "num_threads=", num_threads);
  if (num_threads > detect_cpu().num_usable_cores) {
    spin_ = std::chrono::nanoseconds(0);
  }
  owner_spinner_ = std::make_unique<Spinner>(spin_);
  workers_.reserve(static_cast<std::size_t>(num_threads - 1));
  for (int worker_idx = 1; worker_idx < num_threads; ++worker_idx) {
    workers_.emplace_back([this, worker_idx] { worker_main(worker_idx); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  wake_count_.fetch_add(1);
  futex_wake(wake_count_, INT_MAX);
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::wake() {
  if (num_sleeping_.load() > 0) {
    wake_sleepers(INT_MAX);
  }
}

void ThreadPool::run(std::int64_t count, std::int64_t grain, Function function, void* context) {
  if (count <= 0) {
    return;
  }
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t num_pieces = (count + grain - 1) / grain;
  CHECK(num_pieces <= INT_MAX, num_pieces, " pieces");
  job_ = Job{function, context, count, grain, static_cast<std::uint32_t>(num_pieces)};
  if (workers_.empty() || num_pieces == 1) {
    auto left = job_.num_pieces;
    for (std::int64_t begin = 0; begin < count; begin += grain) {
      // Where there are workers, they must not see any work.
      num_left_.store(--left, std::memory_order_relaxed);
      function(context, 0, begin, std::min(begin + grain, count));
    }
    return;
  }
  num_unfinished_.store(job_.num_pieces, std::memory_order_relaxed);
  // This store and the load behind it, and a sleeper's in the opposite order, are sequentially
  // consistent: the owner sees the sleeper, or the sleeper sees the work.
  num_left_.store(job_.num_pieces);
  if (num_sleeping_.load() > 0) {
    wake_sleepers(static_cast<int>(num_pieces - 1));
  }
  const std::uint32_t num_done = work(0);
  if (num_unfinished_.fetch_sub(num_done, std::memory_order_acq_rel) != num_done) {
    wait_for_others();
  }
}

void ThreadPool::wait_for_others() {
  if (owner_spinner_->wait([this] { return num_unfinished_.load(std::memory_order_acquire) == 0; }
      )) {
    return;
  }
  owner_sleeps_.store(true);
  for (std::uint32_t left = num_unfinished_.load(); left != 0; left = num_unfinished_.load()) {
    futex_wait(num_unfinished_, left);
  }
  owner_sleeps_.store(false, std::memory_order_relaxed);
}

std::uint32_t ThreadPool::work(int worker_idx) {
  std::uint32_t num_done = 0;
  std::uint32_t left = num_left_.load(std::memory_order_acquire);
  while (left > 0) {
    if (!num_left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) {
      continue;
    }
    const std::int64_t begin = static_cast<std::int64_t>(job_.num_pieces - left) * job_.grain;
    job_.function(job_.context, worker_idx, begin, std::min(begin + job_.grain, job_.count));
    ++num_done;
    left = num_left_.load(std::memory_order_acquire);
  }
  return num_done;
}

bool ThreadPool::has_work() const {
  return num_left_.load() > 0 || stopping_.load();
}

void ThreadPool::worker_main(int worker_idx) {
  set_compute_float_mode();
  Spinner spinner(spin_);
  while (true) {
    if (!spinner.wait([this] { return has_work(); })) {
      sleep_until_work();
    }
    if (stopping_.load()) {
      return;
    }
    const std::uint32_t num_done = work(worker_idx);
    if (num_done > 0 && num_unfinished_.fetch_sub(num_done) == num_done && owner_sleeps_.load()) {
      futex_wake(num_unfinished_, 1);
    }
  }
}

// Also returns when wake() wants the workers awake.
void ThreadPool::sleep_until_work() {
  const std::uint32_t seen = wake_count_.load();
  num_sleeping_.fetch_add(1);
  if (!has_work()) {
    futex_wait(wake_count_, seen);
  }
  num_sleeping_.fetch_sub(1);
}

void ThreadPool::wake_sleepers(int count) {
  wake_count_.fetch_add(1);
  futex_wake(wake_count_, count);
}

}  // namespace rapt
