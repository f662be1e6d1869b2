#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/http/responder_internal.h"

namespace rapt {

// The Responder of a handler that runs on a worker thread. Until release() it keeps what the
// handler does; release() hands that to the connection's thread of execution, in order, and then
// what was posted meanwhile. Afterwards it is a mere name for the connection's own Responder. So a
// handler and the callbacks it leaves behind never run at the same time, wherever the handler ran.
class DeferredResponder final : public Responder {
 public:
  explicit DeferredResponder(std::shared_ptr<Responder> target);

  // The handler has returned. Called once.
  void release();

  void send(HttpReply reply) override;
  void begin_event_stream(std::chrono::milliseconds keep_alive) override;
  void write(std::string_view events) override;
  void end_stream() override;
  std::size_t num_buffered_bytes() const override;
  void on_drained(std::function<void()> callback) override;
  void on_disconnect(std::function<void()> callback) override;
  void post(std::function<void()> task) override;

 private:
  using Task = std::function<void()>;

  bool is_released() const;

  const std::shared_ptr<Responder> target_;
  mutable std::mutex mutex_;
  bool is_released_ = false;
  std::vector<Task> calls_;  // the handler's own, and only its thread's until release()
  std::vector<Task> posts_;  // anybody's
};

}  // namespace rapt
