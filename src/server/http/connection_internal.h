#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/http/http_server_internal.h"

namespace rapt {

class Connection;

// Which connections there are and how many of them are busy with a request. Any thread.
class ConnectionTracker {
 public:
  void add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  std::vector<std::shared_ptr<Connection>> all() const;

  void request_begins();
  void request_ends();
  bool wait_idle(std::chrono::milliseconds timeout);

  void start_draining() { is_draining_.store(true); }

  bool is_draining() const { return is_draining_.load(); }

 private:
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> connections_;
  int num_busy_ = 0;
  std::atomic<bool> is_draining_{false};
};

// One TCP connection and the one request it is busy with. Everything but run(), post() and
// close_if_idle() happens on the connection's strand. Kept alive by its pending operations and by
// the handler that holds it as Responder.
class Connection final : public Responder, public std::enable_shared_from_this<Connection> {
 public:
  // `socket` must have a strand as its executor.
  Connection(
      boost::asio::ip::tcp::socket socket,
      const HttpOptions& options,
      HttpHandler& handler,
      boost::asio::thread_pool& workers,
      ConnectionTracker& tracker
  );
  ~Connection() override;

  void run();
  void close_if_idle();
  // Drops socket and callbacks. Only when no IO thread runs any more.
  void abandon();

  void send(HttpReply reply) override;
  void begin_event_stream(std::chrono::milliseconds keep_alive) override;
  void write(std::string_view events) override;
  void end_stream() override;
  std::size_t num_buffered_bytes() const override;
  void on_drained(std::function<void()> callback) override;
  void on_disconnect(std::function<void()> callback) override;
  void post(std::function<void()> task) override;

 private:
  using SystemError = boost::system::error_code;
  using Clock = std::chrono::steady_clock;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  enum class State {
    kIdle,       // between requests
    kReading,    // a request is coming in
    kAnswering,  // the handler has it, or its answer is on the way
    kLingering,  // our side is closed; what still comes in is thrown away
    kGone,
  };

  // Reading, in this order.
  void wait_for_request();
  void begin_request();
  void read_head();
  void parse();
  void read_more();
  void on_read(const SystemError& error, std::size_t num_bytes);
  void on_head();
  void send_continue();
  void read_body();
  void on_request();
  void handle_on_worker();
  void on_read_error(const SystemError& error);
  HttpRequest take_head();
  bool check_chunk();
  std::string_view buffered() const;
  void start_read_timer();
  void stop_read_timer();

  // Answering.
  void begin_answer();
  void append_head(int status, std::string_view content_type, const HttpHeaders& headers);
  void start_write();
  void on_written(const SystemError& error, std::size_t num_bytes);
  void finish_answer();
  void refuse(const Error& error);

  // Noticing that the client has gone while its answer is being made.
  void watch_client();
  void check_client();
  void rewatch_later();
  void client_gone();
  void schedule_comment(std::chrono::milliseconds interval);

  void linger();
  void discard_input();
  void close();

  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  std::string request_id_;
  const HttpOptions& options_;
  HttpHandler& handler_;
  boost::asio::thread_pool& workers_;
  ConnectionTracker& tracker_;

  State state_ = State::kIdle;
  std::atomic<bool> is_gone_{false};  // state_ is kGone, for workers
  std::uint64_t request_number_ = 0;  // tells late callbacks that their request is over
  Clock::time_point request_begin_;
  bool may_skip_line_ = true;       // no line before this request has been skipped
  bool is_read_timed_out_ = false;  // the rest of the request has not come in time
  bool keep_alive_ = true;
  bool is_head_request_ = false;
  bool is_http_10_ = false;
  bool answer_is_complete_ = false;
  bool is_busy_ = false;  // counted as busy by the tracker

  std::string pending_;    // waits for its turn
  std::string in_flight_;  // being written
  std::size_t num_in_flight_written_ = 0;
  bool is_writing_ = false;
  Clock::time_point last_write_;
  boost::asio::steady_timer comment_timer_;
  boost::asio::steady_timer watch_timer_;
  boost::asio::steady_timer read_timer_;
  std::function<void()> drained_callback_;
  std::function<void()> disconnect_callback_;
};

}  // namespace rapt
