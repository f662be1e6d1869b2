#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "request/request.h"

namespace rapt {

// Carries a request's events from the engine thread to the command that waits for them.
class EventQueue : public TokenSink {
 public:
  void on_event(const TokenEvent& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    arrived_.notify_one();
  }

  // The next event, or nothing when none comes in time.
  std::optional<TokenEvent> pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, timeout, [this] { return !events_.empty(); })) {
      return std::nullopt;
    }
    TokenEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<TokenEvent> events_;
};

}  // namespace rapt
