#include <utility>

#include "server/api/event_mailbox_internal.h"

namespace rapt {

EventMailbox::EventMailbox(std::function<void()> wake_up) : wake_up_(std::move(wake_up)) {}

void EventMailbox::on_event(const TokenEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!wake_up_) {
    return;
  }
  const bool was_empty = events_.empty();
  events_.push_back(event);
  if (was_empty) {
    wake_up_();
  }
}

void EventMailbox::take(std::vector<TokenEvent>& events) {
  events.clear();
  const std::lock_guard lock(mutex_);
  events_.swap(events);
}

void EventMailbox::close() {
  // What the wake-up holds is released outside the lock: it may be the last of its owners.
  std::function<void()> wake_up;
  const std::lock_guard lock(mutex_);
  wake_up.swap(wake_up_);
  events_.clear();
}

}  // namespace rapt
