#pragma once

#include <chrono>
#include <cstdint>

namespace rapt {

// Waits a short while for something by looking at it again and again: cheaper than sleeping when it
// comes within microseconds, and a waste when somebody else could use the core. So the time is
// bounded, and a thread that the system put aside while it looked (its core is wanted by others)
// does without for the next waits: once more often each time that happens, up to kMaxSkips. One
// a thread, not shared.
class Spinner {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Spinner(std::chrono::nanoseconds limit) : limit_(limit) {}

  // True once ready() is; false when the time is over or was not worth spending: then sleep.
  template <typename Ready>
  bool wait(Ready&& ready) {
    if (ready()) {
      return true;
    }
    if (limit_.count() == 0) {
      return false;
    }
    if (num_skips_left_ > 0) {
      --num_skips_left_;
      return false;
    }
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = begin;
    while (true) {
      for (int look = 0; look < kLooksPerClockRead; ++look) {
        if (ready()) {
          return true;
        }
        __builtin_ia32_pause();
      }
      const Clock::time_point now = Clock::now();
      if (now - last > kSuspiciousGap && was_put_aside()) {
        skip_next();
        return false;
      }
      if (now - begin > limit_) {
        relax();
        return false;
      }
      last = now;
    }
  }

  // How many waits will be skipped now and were skipped the last time; for tests.
  int num_skips() const { return num_skips_; }

  // As wait() does when the system put the thread aside, and when it did not.
  void skip_next();

  void relax() { num_skips_ /= 2; }

  static constexpr int kMaxSkips = 64;

 private:
  static constexpr int kLooksPerClockRead = 16;
  // Longer than any interrupt; much shorter than what another process is given.
  static constexpr std::chrono::microseconds kSuspiciousGap{200};

  // Whether the system has switched away from this thread against its will since the last call. A
  // gap alone does not say so: a virtual machine's host makes them too, and nobody in here gains
  // from our sleeping then.
  bool was_put_aside();

  std::chrono::nanoseconds limit_;
  int num_skips_ = 0;
  int num_skips_left_ = 0;
  std::int64_t num_switches_ = 0;
};

}  // namespace rapt
