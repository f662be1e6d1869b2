#include <string>
#include <utility>

#include "server/http/deferred_responder_internal.h"

namespace rapt {

DeferredResponder::DeferredResponder(std::shared_ptr<Responder> target)
    : target_(std::move(target)) {}

void DeferredResponder::release() {
  // Under the lock: a task that is posted from now on comes after these.
  const std::lock_guard lock(mutex_);
  is_released_ = true;
  target_->post([calls = std::move(calls_)] {
    for (const Task& call : calls) {
      call();
    }
  });
  for (Task& task : posts_) {
    target_->post(std::move(task));
  }
  posts_.clear();
}

bool DeferredResponder::is_released() const {
  const std::lock_guard lock(mutex_);
  return is_released_;
}

void DeferredResponder::send(HttpReply reply) {
  if (is_released()) {
    target_->send(std::move(reply));
  } else {
    calls_.emplace_back([target = target_, reply = std::move(reply)] { target->send(reply); });
  }
}

void DeferredResponder::begin_event_stream(std::chrono::milliseconds keep_alive) {
  if (is_released()) {
    target_->begin_event_stream(keep_alive);
  } else {
    calls_.emplace_back([target = target_, keep_alive] { target->begin_event_stream(keep_alive); });
  }
}

void DeferredResponder::write(std::string_view events) {
  if (is_released()) {
    target_->write(events);
  } else {
    calls_.emplace_back([target = target_, text = std::string(events)] { target->write(text); });
  }
}

void DeferredResponder::end_stream() {
  if (is_released()) {
    target_->end_stream();
  } else {
    calls_.emplace_back([target = target_] { target->end_stream(); });
  }
}

std::size_t DeferredResponder::num_buffered_bytes() const {
  return is_released() ? target_->num_buffered_bytes() : 0;
}

void DeferredResponder::on_drained(std::function<void()> callback) {
  if (is_released()) {
    target_->on_drained(std::move(callback));
  } else {
    calls_.emplace_back([target = target_, callback] { target->on_drained(callback); });
  }
}

void DeferredResponder::on_disconnect(std::function<void()> callback) {
  if (is_released()) {
    target_->on_disconnect(std::move(callback));
  } else {
    calls_.emplace_back([target = target_, callback] { target->on_disconnect(callback); });
  }
}

void DeferredResponder::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_released_) {
      posts_.push_back(std::move(task));
      return;
    }
  }
  target_->post(std::move(task));
}

}  // namespace rapt
