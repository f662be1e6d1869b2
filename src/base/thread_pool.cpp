#include "base/thread_pool.h"

#include <algorithm>

#include "base/check.h"
#include "base/cpu_info.h"

namespace rapt {

ThreadPool::ThreadPool(int num_threads) {
  CHECK(num_threads >= 1, "num_threads=", num_threads);
  workers_.reserve(static_cast<std::size_t>(num_threads - 1));
  for (int worker_idx = 1; worker_idx < num_threads; ++worker_idx) {
    workers_.emplace_back([this, worker_idx] { worker_main(worker_idx); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::run(std::int64_t count, std::int64_t grain, Function function, void* context) {
  if (count <= 0) {
    return;
  }
  grain = std::max<std::int64_t>(grain, 1);
  if (workers_.empty() || count <= grain) {
    for (std::int64_t begin = 0; begin < count; begin += grain) {
      function(context, 0, begin, std::min(begin + grain, count));
    }
    return;
  }
  function_ = function;
  context_ = context;
  count_ = count;
  grain_ = grain;
  cursor_.store(0, std::memory_order_relaxed);
  num_active_.store(static_cast<std::int32_t>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  work(0);
  // Every worker must have left work() before the job's fields may change again.
  for (std::int32_t active = num_active_.load(std::memory_order_acquire); active != 0;
       active = num_active_.load(std::memory_order_acquire)) {
    num_active_.wait(active, std::memory_order_acquire);
  }
}

void ThreadPool::work(int worker_idx) {
  while (true) {
    const std::int64_t begin = cursor_.fetch_add(grain_, std::memory_order_relaxed);
    if (begin >= count_) {
      return;
    }
    function_(context_, worker_idx, begin, std::min(begin + grain_, count_));
  }
}

void ThreadPool::worker_main(int worker_idx) {
  set_compute_float_mode();
  std::uint32_t seen = 0;
  while (true) {
    generation_.wait(seen, std::memory_order_acquire);
    const std::uint32_t current = generation_.load(std::memory_order_acquire);
    if (current == seen) {
      continue;
    }
    seen = current;
    if (stopping_.load(std::memory_order_relaxed)) {
      return;
    }
    work(worker_idx);
    if (num_active_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      num_active_.notify_one();
    }
  }
}

}  // namespace rapt
