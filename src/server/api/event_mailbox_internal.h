#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "request/request.h"

namespace rapt {

// Carries token events from the engine thread to a connection: the engine drops them here, and
// wakes the reader only when the box was empty. Closing it cuts every tie to the connection, so the
// engine may hold on to its end for as long as it likes.
class EventMailbox final : public TokenSink {
 public:
  // `wake_up` is called on the engine thread with the box's lock held: it must only post.
  explicit EventMailbox(std::function<void()> wake_up);

  void on_event(const TokenEvent& event) override;

  // All events since the last call. `events` is emptied first; its memory is used again.
  void take(std::vector<TokenEvent>& events);
  // After this returns no wake-up runs and events are dropped.
  void close();

 private:
  std::mutex mutex_;
  std::function<void()> wake_up_;  // empty once closed
  std::vector<TokenEvent> events_;
};

}  // namespace rapt
