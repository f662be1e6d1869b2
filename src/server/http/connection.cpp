#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <cctype>

#include "server/errors_internal.h"
#include "server/http/connection_internal.h"
#include "server/http/deferred_responder_internal.h"
#include "server/http/http_text_internal.h"

namespace rapt {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 16U << 10;
constexpr std::size_t kBodyReadSize = 64U << 10;
// After an early refusal: how long and how much of the rest is read, so that the answer is not
// lost to a reset.
constexpr std::chrono::seconds kLingerTime{2};

bool is_http_error(const boost::system::error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category();
}

// Whether the end of the body can be told. Of the codings only chunked alone is understood; what
// comes after a body of an unknown length might be taken for a request (RFC 9112, 6.3).
bool has_good_framing(const http::request<http::string_body>& message) {
  const auto [begin, end] = message.equal_range(http::field::transfer_encoding);
  if (begin == end) {
    return true;
  }
  return std::next(begin) == end && beast::iequals(begin->value(), "chunked") &&
         message.version() >= 11;
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
    asio::thread_pool& workers,
    ConnectionTracker& tracker
)
    : stream_(std::move(socket)),
      options_(options),
      handler_(handler),
      workers_(workers),
      tracker_(tracker),
      comment_timer_(stream_.get_executor()),
      watch_timer_(stream_.get_executor()),
      read_timer_(stream_.get_executor()) {}

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
  may_skip_line_ = true;
  if (tracker_.is_draining()) {
    close();
    return;
  }
  begin_request();
}

// Begins with what is in the buffer, or waits for more. One empty line before a request is no part
// of it (RFC 9112, 2.2): some clients end their bodies with it.
void Connection::begin_request() {
  constexpr std::string_view kLineEnd = "\r\n";
  if (may_skip_line_ && buffered().starts_with(kLineEnd)) {
    buffer_.consume(kLineEnd.size());
    may_skip_line_ = false;
  }
  if (!buffered().empty() && !(may_skip_line_ && buffered() == "\r")) {
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
        self->begin_request();
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
  is_read_timed_out_ = false;
  // Its timeouts close the socket, and then nobody could be told.
  stream_.expires_never();
  start_read_timer();
  parse();
}

// Takes from the buffer what belongs to the request; reads more when that does not end it.
void Connection::parse() {
  // Between chunks, the parser fails an assertion when it is called with just this.
  constexpr std::string_view kAlmostNoBody = "0\r\n\r";
  const bool had_head = parser_->is_header_done();
  while (!parser_->is_done() && !buffered().empty() &&
         !(parser_->chunked() && buffered() == kAlmostNoBody)) {
    SystemError error;
    buffer_.consume(parser_->put(buffer_.data(), error));
    if (error == http::error::need_more) {
      break;
    }
    if (error) {
      on_read_error(error);
      return;
    }
    if (!had_head && parser_->is_header_done()) {
      stop_read_timer();
      on_head();
      return;
    }
  }
  if (parser_->is_done()) {
    stop_read_timer();
    on_request();
  } else if (had_head && !check_chunk()) {
    return;
  } else {
    read_more();
  }
}

// What is left of a body in the buffer lies between two chunks. The parser waits for the end of the
// line before it complains, which may never come.
bool Connection::check_chunk() {
  if (!may_begin_chunk(buffered(), parser_->get().body().empty())) {
    on_read_error(http::error::bad_chunk);
    return false;
  }
  if (buffered().size() > options_.max_header_bytes) {
    on_read_error(http::error::header_limit);
    return false;
  }
  return true;
}

void Connection::read_more() {
  stream_.async_read_some(
      buffer_.prepare(parser_->is_header_done() ? kBodyReadSize : kReadSize),
      [self = shared_from_this()](const SystemError& error, std::size_t num_bytes) {
        self->on_read(error, num_bytes);
      }
  );
}

void Connection::on_read(const SystemError& error, std::size_t num_bytes) {
  if (state_ == State::kGone) {
    return;
  }
  if (is_read_timed_out_) {
    keep_alive_ = false;
    begin_answer();
    send(request_timeout_reply());
    return;
  }
  if (error == asio::error::eof) {
    on_read_error(http::error::partial_message);
    return;
  }
  if (error) {
    on_read_error(error);
    return;
  }
  buffer_.commit(num_bytes);
  if (parser_->is_header_done()) {
    start_read_timer();
  }
  parse();
}

std::string_view Connection::buffered() const {
  const auto data = buffer_.data();
  return {static_cast<const char*>(data.data()), data.size()};
}

void Connection::start_read_timer() {
  read_timer_.expires_at(
      std::min(Clock::now() + options_.read_timeout, request_begin_ + options_.request_timeout)
  );
  read_timer_.async_wait([self = shared_from_this()](const SystemError& error) {
    // It may have been set anew after it had gone off.
    const bool is_late = self->read_timer_.expiry() > Clock::now();
    if (!error && !is_late && self->state_ == State::kReading) {
      // The read that is under way ends now, and sees why.
      self->is_read_timed_out_ = true;
      self->stream_.cancel();
    }
  });
}

void Connection::stop_read_timer() {
  read_timer_.expires_at(Clock::time_point::max());
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
  if (!has_good_framing(parser_->get())) {
    refuse(invalid_argument(
        "The only Transfer-Encoding that this server understands is chunked, in HTTP/1.1."
    ));
    return;
  }
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
  start_read_timer();
  parse();
}

void Connection::on_request() {
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  state_ = State::kAnswering;
  stream_.expires_never();
  watch_client();
  if (handler_.is_quick(request_)) {
    handler_.handle(std::move(request_), shared_from_this());
  } else {
    handle_on_worker();
  }
}

void Connection::handle_on_worker() {
  asio::post(workers_, [self = shared_from_this(), request = std::move(request_)]() mutable {
    if (self->is_gone_.load()) {
      return;  // the client did not want to wait for a worker
    }
    HttpHandler& handler = self->handler_;
    auto owner = std::make_unique<DeferredResponder>(std::move(self));
    DeferredResponder& deferred = *owner;
    const std::shared_ptr<Responder> responder = std::move(owner);
    handler.handle(std::move(request), responder);
    deferred.release();
  });
}

void Connection::on_read_error(const SystemError& error) {
  if (error == http::error::body_limit) {
    refuse(Error{
        ErrorCode::kPayloadTooLarge,
        "The request body is larger than the " + std::to_string(options_.max_body_bytes) +
            " bytes that this server accepts."});
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refuse(invalid_argument(
        "The request's headers, or those of a chunk, are larger than " +
        std::to_string(options_.max_header_bytes) + " bytes."
    ));
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
  is_gone_.store(true);
  drained_callback_ = nullptr;
  comment_timer_.cancel();
  watch_timer_.cancel();
  read_timer_.cancel();
  if (is_busy_) {
    is_busy_ = false;
    tracker_.request_ends();
  }
  stream_.close();
}

}  // namespace rapt
