#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "server/errors_internal.h"
#include "server/http/connection_internal.h"
#include "server/http/http_text_internal.h"

// The half of Connection that answers; connection.cpp is the half that reads.

namespace rapt {

namespace {

namespace asio = boost::asio;

// Whether an answer with this status has a body, be it an empty one.
bool has_body(int status) {
  return status != 204 && status != 304;
}

// How often a client that has sent more than its request is looked at.
constexpr std::chrono::milliseconds kRewatchTime{250};

}  // namespace

void Connection::begin_answer() {
  if (is_busy_) {
    return;
  }
  is_busy_ = true;
  tracker_.request_begins();
  answer_is_complete_ = false;
}

void Connection::refuse(const Error& error) {
  if (state_ == State::kGone) {
    return;
  }
  keep_alive_ = false;
  begin_answer();
  send(error_reply(error));
}

void Connection::send(HttpReply reply) {
  if (state_ == State::kGone) {
    return;
  }
  state_ = State::kAnswering;
  if (has_body(reply.status)) {
    reply.headers.emplace_back("content-length", std::to_string(reply.body.size()));
  }
  append_head(reply.status, reply.content_type, reply.headers);
  if (!is_head_request_) {
    pending_ += reply.body;
  }
  answer_is_complete_ = true;
  start_write();
}

void Connection::append_head(
    int status, std::string_view content_type, const HttpHeaders& headers
) {
  const auto line = [this](std::string_view name, std::string_view value) {
    pending_.append(name).append(": ").append(value).append("\r\n");
  };
  pending_ += "HTTP/1.1 " + std::to_string(status) + " ";
  pending_.append(http_reason_phrase(status)).append("\r\n");
  line("date", http_date());
  if (has_body(status)) {
    line("content-type", content_type);
  }
  line("x-request-id", request_id_);
  for (const auto& [name, value] : headers) {
    line(name, value);
  }
  if (tracker_.is_draining()) {
    keep_alive_ = false;
  }
  if (!keep_alive_) {
    line("connection", "close");
  } else if (is_http_10_) {
    line("connection", "keep-alive");
  }
  pending_ += "\r\n";
}

void Connection::begin_event_stream(std::chrono::milliseconds keep_alive) {
  if (state_ == State::kGone) {
    return;
  }
  HttpHeaders headers = {{"cache-control", "no-cache"}, {"x-accel-buffering", "no"}};
  if (is_http_10_) {
    keep_alive_ = false;  // HTTP/1.0 knows no chunks: the end of the connection ends the body
  } else {
    headers.emplace_back("transfer-encoding", "chunked");
  }
  append_head(200, "text/event-stream; charset=utf-8", headers);
  start_write();
  schedule_comment(keep_alive);
}

void Connection::write(std::string_view events) {
  if (state_ != State::kAnswering || events.empty()) {
    return;
  }
  if (is_http_10_) {
    pending_ += events;
  } else {
    append_chunk(pending_, events);
  }
  start_write();
}

void Connection::end_stream() {
  if (state_ != State::kAnswering) {
    return;
  }
  if (!is_http_10_) {
    pending_ += "0\r\n\r\n";
  }
  answer_is_complete_ = true;
  start_write();
}

void Connection::start_write() {
  last_write_ = Clock::now();
  if (is_writing_) {
    return;
  }
  if (num_in_flight_written_ == in_flight_.size()) {
    in_flight_.clear();
    in_flight_.swap(pending_);
    num_in_flight_written_ = 0;
  }
  is_writing_ = true;
  // Each piece that the client takes buys it more time.
  stream_.expires_after(options_.write_timeout);
  stream_.async_write_some(
      asio::buffer(
          in_flight_.data() + num_in_flight_written_, in_flight_.size() - num_in_flight_written_
      ),
      [self = shared_from_this()](const SystemError& error, std::size_t num_bytes) {
        self->on_written(error, num_bytes);
      }
  );
}

void Connection::on_written(const SystemError& error, std::size_t num_bytes) {
  is_writing_ = false;
  if (state_ == State::kGone) {
    return;
  }
  if (error) {
    client_gone();
    return;
  }
  num_in_flight_written_ += num_bytes;
  if (num_buffered_bytes() > 0) {
    start_write();
    return;
  }
  stream_.expires_never();
  if (answer_is_complete_) {
    finish_answer();
  } else if (drained_callback_) {
    const std::function<void()> callback = std::exchange(drained_callback_, nullptr);
    callback();
  }
}

void Connection::finish_answer() {
  drained_callback_ = nullptr;
  disconnect_callback_ = nullptr;
  comment_timer_.cancel();
  watch_timer_.cancel();
  ++request_number_;
  is_busy_ = false;
  tracker_.request_ends();
  if (keep_alive_) {
    wait_for_request();
  } else {
    linger();
  }
}

std::size_t Connection::num_buffered_bytes() const {
  return pending_.size() + in_flight_.size() - num_in_flight_written_;
}

void Connection::on_drained(std::function<void()> callback) {
  drained_callback_ = std::move(callback);
}

void Connection::on_disconnect(std::function<void()> callback) {
  if (state_ == State::kGone) {
    callback();  // it left while a worker was busy with its request
    return;
  }
  disconnect_callback_ = std::move(callback);
}

void Connection::post(std::function<void()> task) {
  // The connection may be gone by then, but never destroyed.
  asio::post(stream_.get_executor(), [self = shared_from_this(), task = std::move(task)] {
    task();
  });
}

void Connection::schedule_comment(std::chrono::milliseconds interval) {
  comment_timer_.expires_at(last_write_ + interval);
  comment_timer_.async_wait(
      [self = shared_from_this(), interval, number = request_number_](const SystemError& error) {
        if (error || number != self->request_number_ || self->state_ != State::kAnswering) {
          return;
        }
        if (Clock::now() - self->last_write_ >= interval) {
          self->write(": keep-alive\n\n");
        }
        self->schedule_comment(interval);
      }
  );
}

// ---- noticing that the client has gone ----

void Connection::watch_client() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read,
      [self = shared_from_this(), number = request_number_](const SystemError& error) {
        if (!error && number == self->request_number_ && self->state_ == State::kAnswering) {
          self->check_client();
        }
      }
  );
}

// The socket is readable: the client has left, reset the connection, or sent its next request. One
// that only ended its sending side looks as if it had left, and is treated so.
void Connection::check_client() {
  pollfd status{stream_.socket().native_handle(), POLLIN | POLLRDHUP, 0};
  ::poll(&status, 1, 0);
  if ((status.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
    client_gone();
  } else if ((status.revents & POLLIN) != 0) {
    rewatch_later();
  } else {
    watch_client();
  }
}

// Readability cannot tell any more once a next request waits in the socket.
void Connection::rewatch_later() {
  watch_timer_.expires_after(kRewatchTime);
  watch_timer_.async_wait([self = shared_from_this(),
                           number = request_number_](const SystemError& error) {
    if (!error && number == self->request_number_ && self->state_ == State::kAnswering) {
      self->check_client();
    }
  });
}

void Connection::client_gone() {
  if (state_ == State::kGone) {
    return;
  }
  const std::function<void()> callback = std::exchange(disconnect_callback_, nullptr);
  close();
  if (callback) {
    callback();
  }
}

}  // namespace rapt
