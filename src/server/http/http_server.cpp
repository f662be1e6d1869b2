#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <list>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "server/http/connection_internal.h"
#include "server/http/http_server_internal.h"

namespace rapt {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using SystemError = boost::system::error_code;

// After a failed accept, mostly for want of file descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};

// Attempts to find one port that is free for both of localhost's addresses.
constexpr int kMaxPortAttempts = 16;

std::string url_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  return "http://" + host + ":" + std::to_string(endpoint.port());
}

Error cannot_listen(const std::string& host, int port, const SystemError& cause) {
  std::string message =
      "Cannot listen on " + host + " port " + std::to_string(port) + ": " + cause.message() + ".";
  if (cause == asio::error::address_in_use) {
    message += " Another program uses this port; choose one with --port, or 0 for any free one.";
  }
  return invalid_argument(std::move(message), "port");
}

}  // namespace

struct HttpServer::Impl {
  struct Listener {
    explicit Listener(asio::io_context& io)
        : acceptor(asio::make_strand(io)), pause(acceptor.get_executor()) {}

    tcp::acceptor acceptor;
    asio::steady_timer pause;
    tcp::endpoint endpoint;
  };

  Impl(const HttpOptions& the_options, HttpHandler& the_handler)
      : options(the_options),
        handler(the_handler),
        io(the_options.num_io_threads),
        workers(static_cast<std::size_t>(the_options.num_worker_threads)) {}

  Result<void> bind();
  SystemError listen_on(const tcp::endpoint& endpoint);
  void accept(Listener& listener);

  const HttpOptions options;
  HttpHandler& handler;
  ConnectionTracker tracker;
  asio::io_context io;
  asio::thread_pool workers;
  std::list<Listener> listeners;
  std::vector<std::thread> threads;
  std::once_flag stopped;
};

SystemError HttpServer::Impl::listen_on(const tcp::endpoint& endpoint) {
  Listener& listener = listeners.emplace_back(io);
  SystemError error;
  listener.acceptor.open(endpoint.protocol(), error);
  if (!error) {
    listener.acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error && endpoint.address().is_v6()) {
    // "::" means every address of both families; a single IPv6 address is only itself.
    const bool is_every_address = endpoint.address().is_unspecified();
    listener.acceptor.set_option(asio::ip::v6_only(!is_every_address), error);
  }
  if (!error) {
    listener.acceptor.bind(endpoint, error);
  }
  if (!error) {
    listener.acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (!error) {
    listener.endpoint = listener.acceptor.local_endpoint(error);
  }
  if (error) {
    listeners.pop_back();
  }
  return error;
}

Result<void> HttpServer::Impl::bind() {
  const auto port = static_cast<std::uint16_t>(options.port);
  SystemError error;
  if (options.host == "localhost") {
    for (int attempt = 0; attempt < kMaxPortAttempts; ++attempt) {
      error = listen_on({asio::ip::address_v4::loopback(), port});
      if (error) {
        return cannot_listen("127.0.0.1", options.port, error);
      }
      error = listen_on({asio::ip::address_v6::loopback(), listeners.front().endpoint.port()});
      if (error != asio::error::address_in_use) {
        return {};  // also without IPv6 on this machine
      }
      if (port != 0) {
        break;
      }
      listeners.clear();
    }
    return cannot_listen("::1", options.port, error);
  }
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(options.host, "", tcp::resolver::passive, error);
  if (error) {
    return invalid_argument(
        "Cannot listen on \"" + options.host + "\": " + error.message() +
            ". Give an IP address of this machine or its name.",
        "host"
    );
  }
  std::uint16_t bound_port = port;
  for (const auto& entry : found) {
    error = listen_on({entry.endpoint().address(), bound_port});
    if (error) {
      return cannot_listen(entry.endpoint().address().to_string(), bound_port, error);
    }
    bound_port = listeners.back().endpoint.port();
  }
  return {};
}

void HttpServer::Impl::accept(Listener& listener) {
  listener.acceptor.async_accept(
      asio::make_strand(io),
      [this, &listener](const SystemError& error, tcp::socket socket) {
        if (error == asio::error::operation_aborted || tracker.is_draining()) {
          return;
        }
        if (error) {
          LOG_WARNING("cannot accept a connection", kv("cause", error.message()));
          listener.pause.expires_after(kAcceptPause);
          listener.pause.async_wait([this, &listener](const SystemError& stopped) {
            if (!stopped) {
              accept(listener);
            }
          });
          return;
        }
        SystemError ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        const auto connection =
            std::make_shared<Connection>(std::move(socket), options, handler, workers, tracker);
        tracker.add(connection);
        connection->run();
        accept(listener);
      }
  );
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    const HttpOptions& options, HttpHandler& handler
) {
  if (options.port < 0 || options.port > 65535) {
    return invalid_argument(
        "port must be from 0 to 65535, but is " + std::to_string(options.port) + ".", "port"
    );
  }
  auto impl = std::make_unique<Impl>(options, handler);
  RETURN_IF_ERROR(impl->bind());
  for (Impl::Listener& listener : impl->listeners) {
    impl->accept(listener);
  }
  for (int thread_idx = 0; thread_idx < options.num_io_threads; ++thread_idx) {
    impl->threads.emplace_back([&io = impl->io] { io.run(); });
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  stop();
}

int HttpServer::port() const {
  return impl_->listeners.front().endpoint.port();
}

std::vector<std::string> HttpServer::urls() const {
  std::vector<std::string> urls;
  for (const Impl::Listener& listener : impl_->listeners) {
    urls.push_back(url_of(listener.endpoint));
  }
  return urls;
}

void HttpServer::stop_accepting() {
  impl_->tracker.start_draining();
  for (Impl::Listener& listener : impl_->listeners) {
    asio::post(listener.acceptor.get_executor(), [&listener] {
      SystemError ignored;
      listener.acceptor.close(ignored);
      listener.pause.cancel();
    });
  }
  for (const std::shared_ptr<Connection>& connection : impl_->tracker.all()) {
    connection->close_if_idle();
  }
}

bool HttpServer::is_accepting() const {
  return !impl_->tracker.is_draining();
}

bool HttpServer::wait_idle(std::chrono::milliseconds timeout) {
  return impl_->tracker.wait_idle(timeout);
}

void HttpServer::stop() {
  std::call_once(impl_->stopped, [this] {
    stop_accepting();
    impl_->workers.stop();
    impl_->io.stop();
    for (std::thread& thread : impl_->threads) {
      thread.join();
    }
    impl_->workers.join();
    for (const std::shared_ptr<Connection>& connection : impl_->tracker.all()) {
      connection->abandon();
    }
  });
}

}  // namespace rapt
