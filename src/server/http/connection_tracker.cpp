#include "server/http/connection_internal.h"

namespace rapt {

void ConnectionTracker::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  connections_.emplace(connection.get(), connection);
}

void ConnectionTracker::remove(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

std::vector<std::shared_ptr<Connection>> ConnectionTracker::all() const {
  std::vector<std::shared_ptr<Connection>> alive;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, weak] : connections_) {
    if (std::shared_ptr<Connection> connection = weak.lock()) {
      alive.push_back(std::move(connection));
    }
  }
  return alive;
}

void ConnectionTracker::request_begins() {
  const std::lock_guard lock(mutex_);
  ++num_busy_;
}

void ConnectionTracker::request_ends() {
  const std::lock_guard lock(mutex_);
  --num_busy_;
  if (num_busy_ == 0) {
    idle_.notify_all();
  }
}

bool ConnectionTracker::wait_idle(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return num_busy_ == 0; });
}

}  // namespace rapt
