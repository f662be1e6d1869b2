#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <cctype>

#include "server/errors_internal.h"
#include "server/http/connection_internal.h"
#include "server/http/http_text_internal.h"

namespace rapt {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 16U << 10;
// After an early refusal: how long and how much of the rest is read, so that the answer is not
// lost to a reset.
constexpr std::chrono::seconds kLingerTime{2};

bool is_http_error(const boost::system::error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category();
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace

Connection::Connection(
    asio::ip::tcp::socket socket,
    const HttpOptions& options,
    HttpHandler& handler,
    ConnectionTracker& tracker
)
    : stream_(std::move(socket)),
      options_(options),
      handler_(handler),
      tracker_(tracker),
      comment_timer_(stream_.get_executor()),
      watch_timer_(stream_.get_executor()) {}

Connection::~Connection() {
  tracker_.remove(this);
}

void Connection::run() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
}

void Connection::close_if_idle() {
  asio::post(stream_.get_executor(), [self = shared_from_this()] {
    if (self->state_ == State::kIdle) {
      self->close();
    }
  });
}

void Connection::abandon() {
  drained_callback_ = nullptr;
  disconnect_callback_ = nullptr;
  close();
}

// ---- reading ----

void Connection::wait_for_request() {
  state_ = State::kIdle;
  if (tracker_.is_draining()) {
    close();
    return;
  }
  if (buffer_.size() > 0) {
    read_head();
    return;
  }
  stream_.expires_after(options_.idle_timeout);
  stream_.async_read_some(
      buffer_.prepare(kReadSize),
      [self = shared_from_this()](const SystemError& error, std::size_t num_bytes) {
        if (error || self->state_ == State::kGone) {
          self->close();
          return;
        }
        self->buffer_.commit(num_bytes);
        self->read_head();
      }
  );
}

void Connection::read_head() {
  state_ = State::kReading;
  request_begin_ = Clock::now();
  ++request_number_;
  // What a refusal needs to know when the head cannot be read.
  keep_alive_ = false;
  is_head_request_ = false;
  is_http_10_ = false;
  request_ = HttpRequest();
  request_id_ = make_request_id();
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser_->body_limit(options_.max_body_bytes);
  stream_.expires_after(options_.read_timeout);
  http::async_read_header(
      stream_,
      buffer_,
      *parser_,
      [self = shared_from_this()](const SystemError& error, std::size_t) {
        if (error) {
          self->on_read_error(error);
        } else {
          self->on_head();
        }
      }
  );
}

HttpRequest Connection::take_head() {
  const auto& message = parser_->get();
  HttpRequest head;
  head.method = std::string(message.method_string());
  for (const auto& field : message) {
    head.headers.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  }
  head.request_id = accept_request_id(head.header("x-request-id"));
  return head;
}

void Connection::on_head() {
  request_ = take_head();
  request_id_ = request_.request_id;
  is_head_request_ = request_.method == "HEAD";
  is_http_10_ = parser_->get().version() < 11;
  if (!parse_target(parser_->get().target(), request_.path, request_.query)) {
    refuse(invalid_argument("The request target is no valid path."));
    return;
  }
  begin_answer();
  const bool has_body = !parser_->is_done();
  if (std::optional<HttpReply> reply = handler_.screen(request_)) {
    // A body that was not read makes the connection useless for a next request.
    keep_alive_ = parser_->keep_alive() && !has_body;
    send(*std::move(reply));
    return;
  }
  keep_alive_ = parser_->keep_alive();
  if (!has_body) {
    on_request();
  } else if (lower_case(request_.header("expect")) == "100-continue") {
    send_continue();
  } else {
    read_body();
  }
}

void Connection::send_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  stream_.expires_after(options_.write_timeout);
  asio::async_write(
      stream_,
      asio::buffer(kContinue),
      [self = shared_from_this()](const SystemError& error, std::size_t) {
        if (error) {
          self->client_gone();
        } else {
          self->read_body();
        }
      }
  );
}

void Connection::read_body() {
  if (parser_->is_done()) {
    on_request();
    return;
  }
  if (Clock::now() - request_begin_ > options_.request_timeout) {
    on_read_error(beast::error::timeout);
    return;
  }
  stream_.expires_after(options_.read_timeout);
  http::async_read_some(
      stream_,
      buffer_,
      *parser_,
      [self = shared_from_this()](const SystemError& error, std::size_t) {
        if (error) {
          self->on_read_error(error);
        } else {
          self->read_body();
        }
      }
  );
}

void Connection::on_request() {
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  state_ = State::kAnswering;
  stream_.expires_never();
  watch_client();
  handler_.handle(std::move(request_), shared_from_this());
}

void Connection::on_read_error(const SystemError& error) {
  if (error == http::error::body_limit) {
    refuse(Error{
        ErrorCode::kPayloadTooLarge,
        "The request body is larger than the " + std::to_string(options_.max_body_bytes) +
            " bytes that this server accepts."});
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refuse(invalid_argument(
        "The request's headers are larger than " + std::to_string(options_.max_header_bytes) +
        " bytes."
    ));
  } else if (error == http::error::end_of_stream) {
    close();
  } else if (is_http_error(error)) {
    refuse(invalid_argument("The request is no valid HTTP/1.1: " + error.message() + "."));
  } else {
    client_gone();
  }
}

// ---- the end ----

void Connection::linger() {
  state_ = State::kLingering;
  SystemError ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLingerTime);
  discard_input();
}

void Connection::discard_input() {
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(kReadSize),
      [self = shared_from_this()](const SystemError& error, std::size_t) {
        if (error || self->state_ == State::kGone) {
          self->close();
        } else {
          self->discard_input();
        }
      }
  );
}

void Connection::close() {
  if (state_ == State::kGone) {
    return;
  }
  state_ = State::kGone;
  drained_callback_ = nullptr;
  comment_timer_.cancel();
  watch_timer_.cancel();
  if (is_busy_) {
    is_busy_ = false;
    tracker_.request_ends();
  }
  stream_.close();
}

}  // namespace rapt
