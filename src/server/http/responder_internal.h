#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "server/http/http_message_internal.h"

namespace rapt {

// The answering end of one request. A handler gives exactly one answer: send(), or begin_stream(),
// any number of write()s, and end_stream(). All functions but post() are for the handler itself
// until it returns, and then for the connection's own thread of execution, on which the callbacks
// below and posted tasks run, never before the handler has returned. After the client has gone all
// of them do nothing, but a callback for that is then called.
class Responder {
 public:
  virtual ~Responder() = default;

  virtual void send(HttpReply reply) = 0;

  // 200, and the head goes out at once. After `keep_alive` of silence a comment line is sent, so
  // that proxies do not cut the connection.
  virtual void begin_event_stream(std::chrono::milliseconds keep_alive) = 0;
  // Whole events only. Never blocks: what the client has not taken is kept.
  virtual void write(std::string_view events) = 0;
  virtual void end_stream() = 0;

  // Bytes written but not yet taken by the kernel. Who sees it grow stops writing and asks to be
  // called once it is 0 again.
  virtual std::size_t num_buffered_bytes() const = 0;
  virtual void on_drained(std::function<void()> callback) = 0;

  // Called at most once, when the client leaves before the answer's end, streamed or not.
  virtual void on_disconnect(std::function<void()> callback) = 0;

  // Runs `task` on the connection's thread of execution. Any thread.
  virtual void post(std::function<void()> task) = 0;
};

// Adds one server-sent event with the given data (one line, as JSON text is) to `out`.
void append_event(std::string& out, std::string_view data);

}  // namespace rapt
