#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace rapt {

// A fork-join pool. The thread that calls parallel_for is worker 0 and works too, so a pool of N
// uses N - 1 threads of its own. Work is handed out by a shared cursor, so that a thread the
// machine has put aside holds nobody up for longer than the piece it holds. Between calls the
// workers sleep. One owner: parallel_for may be called from one thread at a time, and not from
// inside itself. No call allocates.
class ThreadPool {
 public:
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end) for pieces of [0, count), at most `grain` long each, in any order, and
  // returns when all are done. `body` must not throw.
  template <typename Body>
  void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
    parallel_for_workers(count, grain, [&body](int, std::int64_t begin, std::int64_t end) {
      body(begin, end);
    });
  }

  // The same with body(worker_idx, begin, end), worker_idx in [0, num_threads()): for bodies that
  // need scratch memory of their own. Which worker gets which piece is not fixed, so a result may
  // never depend on worker_idx.
  template <typename Body>
  void parallel_for_workers(std::int64_t count, std::int64_t grain, Body&& body) {
    using Callable = std::remove_reference_t<Body>;
    run(
        count,
        grain,
        [](void* context, int worker_idx, std::int64_t begin, std::int64_t end) {
          (*static_cast<Callable*>(context))(worker_idx, begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&body))
    );
  }

 private:
  using Function = void (*)(void* context, int worker_idx, std::int64_t begin, std::int64_t end);

  void run(std::int64_t count, std::int64_t grain, Function function, void* context);
  void work(int worker_idx);
  void worker_main(int worker_idx);

  // The current job; written by the owner before `generation_` moves on.
  Function function_ = nullptr;
  void* context_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t grain_ = 1;

  alignas(64) std::atomic<std::int64_t> cursor_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<std::int32_t> num_active_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace rapt
