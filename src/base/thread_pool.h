#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace rapt {

class Spinner;

// A fork-join pool. The thread that calls parallel_for is worker 0 and works too, so a pool of N
// uses N - 1 threads of its own. Work is handed out by a shared cursor, and a job waits only for
// threads that took a piece of it: one that the machine has put aside, or that has not woken yet,
// holds nobody up for longer than the piece it holds. A worker without work looks for some for
// `spin` and then sleeps, as does the caller that waits for others' last pieces; on a machine that
// others want too they sleep at once (base/spinner_internal.h). One owner: parallel_for may be
// called from one thread at a time, and not from inside itself. No call allocates.
class ThreadPool {
 public:
  // Bridges the serial parts between the jobs of a step; waking a sleeper takes as long.
  static constexpr std::chrono::microseconds kDefaultSpin{150};

  // With more threads than cores nobody spins.
  explicit ThreadPool(int num_threads, std::chrono::nanoseconds spin = kDefaultSpin);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Wakes the workers ahead of a series of jobs, so that the first does not wait for it. Owner
  // only.
  void wake();

  // Calls body(begin, end) for pieces of [0, count), at most `grain` long each, in any order, and
  // returns when all are done. `body` must not throw. One piece alone runs on the calling thread
  // and wakes nobody: a job of less than some 20 us should be one.
  template <typename Body>
  void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
    parallel_for_workers(count, grain, [&body](int, std::int64_t begin, std::int64_t end) {
      body(begin, end);
    });
  }

  // For a body while it runs a piece: where the piece begins that would be taken next, or `count`
  // if none is left. Somebody else may take it; good for asking for memory ahead of time.
  std::int64_t next_piece() const {
    const std::uint32_t left = num_left_.load(std::memory_order_relaxed);
    return left == 0 ? job_.count : static_cast<std::int64_t>(job_.num_pieces - left) * job_.grain;
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

  // What the pieces of a job are. Written by the owner while no piece is out; read by whoever holds
  // one.
  struct Job {
    Function function = nullptr;
    void* context = nullptr;
    std::int64_t count = 0;
    std::int64_t grain = 1;
    std::uint32_t num_pieces = 0;
  };

  void run(std::int64_t count, std::int64_t grain, Function function, void* context);
  // Takes pieces until none is left; returns how many it finished.
  std::uint32_t work(int worker_idx);
  void worker_main(int worker_idx);
  void wait_for_others();
  void sleep_until_work();
  void wake_sleepers(int count);
  // Whether a worker should be awake.
  bool has_work() const;

  std::chrono::nanoseconds spin_;
  std::unique_ptr<Spinner> owner_spinner_;
  Job job_;

  // Pieces of the current job that nobody has taken. A piece is taken by a compare-exchange, so
  // whoever takes one has seen the job it belongs to, and that job cannot end without it.
  alignas(64) std::atomic<std::uint32_t> num_left_{0};
  // Pieces that are not finished, taken or not; the owner sleeps on it.
  alignas(64) std::atomic<std::uint32_t> num_unfinished_{0};
  std::atomic<bool> owner_sleeps_{false};
  // Changes when sleepers are to wake; workers sleep on it.
  alignas(64) std::atomic<std::uint32_t> wake_count_{0};
  std::atomic<std::int32_t> num_sleeping_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace rapt
