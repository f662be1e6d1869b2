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

template <typename Call>
bool DeferredResponder::keep(std::vector<Task>& tasks, Call&& call) {
  const std::lock_guard lock(mutex_);
  if (!is_released_) {
    tasks.emplace_back(std::forward<Call>(call));
  }
  return !is_released_;
}

void DeferredResponder::send(HttpReply reply) {
  const auto shared = std::make_shared<HttpReply>(std::move(reply));
  if (!keep(calls_, [target = target_, shared] { target->send(std::move(*shared)); })) {
    target_->send(std::move(*shared));
  }
}

void DeferredResponder::begin_event_stream(std::chrono::milliseconds keep_alive) {
  if (!keep(calls_, [target = target_, keep_alive] { target->begin_event_stream(keep_alive); })) {
    target_->begin_event_stream(keep_alive);
  }
}

void DeferredResponder::write(std::string_view events) {
  if (!keep(calls_, [target = target_, text = std::string(events)] { target->write(text); })) {
    target_->write(events);
  }
}

void DeferredResponder::end_stream() {
  if (!keep(calls_, [target = target_] { target->end_stream(); })) {
    target_->end_stream();
  }
}

std::size_t DeferredResponder::num_buffered_bytes() const {
  {
    const std::lock_guard lock(mutex_);
    if (!is_released_) {
      return 0;
    }
  }
  return target_->num_buffered_bytes();
}

void DeferredResponder::on_drained(std::function<void()> callback) {
  if (!keep(calls_, [target = target_, callback] { target->on_drained(callback); })) {
    target_->on_drained(std::move(callback));
  }
}

void DeferredResponder::on_disconnect(std::function<void()> callback) {
  if (!keep(calls_, [target = target_, callback] { target->on_disconnect(callback); })) {
    target_->on_disconnect(std::move(callback));
  }
}

void DeferredResponder::post(std::function<void()> task) {
  if (!keep(posts_, task)) {
    target_->post(std::move(task));
  }
}

}  // namespace rapt
