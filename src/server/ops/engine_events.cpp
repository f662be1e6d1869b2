#include <utility>

#include "server/errors_internal.h"
#include "server/ops/engine_events_internal.h"
#include "server/ops/engine_frames_internal.h"

namespace rapt {

namespace {

// Each event repeats so many seconds of the history, for those who missed some.
constexpr std::int64_t kRepeatedSeconds = 5;

}  // namespace

EngineEvents::EngineEvents(const Engine& engine, std::string model, std::string version)
    : engine_(engine), model_(std::move(model)), version_(std::move(version)) {
  thread_ = std::thread([this] { run(); });
}

EngineEvents::~EngineEvents() {
  close();
  thread_.join();
}

void EngineEvents::add(
    const std::shared_ptr<Responder>& responder, std::chrono::milliseconds keep_alive
) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) {
      responder->send(error_reply(Error{ErrorCode::kUnavailable, "The server is shutting down."}));
      return;
    }
    if (watchers_.size() >= kMaxWatchers) {
      responder->send(error_reply(Error{
          ErrorCode::kResourceExhausted,
          "Already " + std::to_string(kMaxWatchers) + " clients watch the engine."}));
      return;
    }
    watchers_.push_back(responder);
  }
  responder->on_disconnect([this, watcher = responder.get()] { remove(watcher); });
  responder->begin_event_stream(keep_alive);
  std::string event;
  append_event(event, engine_hello_text(engine_, model_, version_));
  responder->write(event);
  const std::lock_guard lock(mutex_);
  has_newcomer_ = true;
  changed_.notify_one();
}

void EngineEvents::close() {
  std::vector<ResponderPtr> watchers;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    watchers.swap(watchers_);
    changed_.notify_one();
  }
  for (const ResponderPtr& watcher : watchers) {
    watcher->post([watcher] { watcher->end_stream(); });
  }
}

int EngineEvents::num_watchers() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(watchers_.size());
}

void EngineEvents::remove(const Responder* responder) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [responder](const ResponderPtr& watcher) {
    return watcher.get() == responder;
  });
}

void EngineEvents::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closed_ || !watchers_.empty(); });
    if (is_closed_) {
      return;
    }
    if (std::exchange(has_newcomer_, false)) {
      last_text_.clear();
    }
    lock.unlock();
    std::string event = next_event();
    lock.lock();
    if (!event.empty()) {
      latest_ = std::move(event);
      for (const ResponderPtr& watcher : watchers_) {
        watcher->post([this, watcher] { show_latest(*watcher); });
      }
    }
    changed_.wait_for(lock, kPeriod, [this] { return is_closed_ || has_newcomer_; });
  }
}

void EngineEvents::show_latest(Responder& watcher) {
  if (watcher.num_buffered_bytes() > 0) {
    // It has not taken the last event yet; what there is by then will do.
    watcher.on_drained([this, &watcher] { show_latest(watcher); });
    return;
  }
  std::string event;
  {
    const std::lock_guard lock(mutex_);
    event = latest_;
  }
  watcher.write(event);
}

std::string EngineEvents::next_event() {
  const EngineStats stats = engine_.stats();
  EngineSnapshot snapshot = engine_.snapshot(last_second_ - kRepeatedSeconds);
  last_second_ = snapshot.now;
  std::string text = engine_state_text(stats, snapshot);
  if (text == last_text_) {
    return {};
  }
  std::string event;
  append_event(event, stamp_state_text(text, snapshot.now));
  last_text_ = std::move(text);
  return event;
}

}  // namespace rapt
