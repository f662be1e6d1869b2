#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "server/testing/http_client_internal.h"

namespace rapt {

namespace {

constexpr timeval kPatience{20, 0};

int connect_to(const std::string& address, int port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const int handle = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  ::setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  int status = -1;
  if (is_v6) {
    sockaddr_in6 target{};
    target.sin6_family = AF_INET6;
    target.sin6_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET6, address.c_str(), &target.sin6_addr);
    status = ::connect(handle, reinterpret_cast<const sockaddr*>(&target), sizeof target);
  } else {
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address.c_str(), &target.sin_addr);
    status = ::connect(handle, reinterpret_cast<const sockaddr*>(&target), sizeof target);
  }
  if (status != 0) {
    ::close(handle);
    return -1;
  }
  return handle;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

json::value HttpClient::Response::json() const {
  Result<json::value> value = parse_json(body, "the response");
  return value ? std::move(value).value() : json::value(nullptr);
}

std::vector<std::string> HttpClient::Response::events() const {
  constexpr std::string_view kPrefix = "data: ";
  std::vector<std::string> found;
  std::size_t begin = 0;
  while (begin < body.size()) {
    const std::size_t end = std::min(body.find("\n\n", begin), body.size());
    const std::string_view event = std::string_view(body).substr(begin, end - begin);
    if (event.starts_with(kPrefix)) {
      found.emplace_back(event.substr(kPrefix.size()));
    }
    begin = end + 2;
  }
  return found;
}

HttpClient::HttpClient(int port, const std::string& address) : socket_(connect_to(address, port)) {}

HttpClient::~HttpClient() {
  close();
}

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpClient::finish_sending() {
  ::shutdown(socket_, SHUT_WR);
}

void HttpClient::close(bool abruptly) {
  if (socket_ < 0) {
    return;
  }
  if (abruptly) {
    const linger option{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &option, sizeof option);
  }
  ::close(socket_);
  socket_ = -1;
}

bool HttpClient::read_some() {
  std::array<char, 16384> chunk{};
  const ssize_t received = ::recv(socket_, chunk.data(), chunk.size(), 0);
  if (received <= 0) {
    return false;
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(received));
  return true;
}

std::string HttpClient::take(std::size_t size) {
  while (buffer_.size() < size && read_some()) {
  }
  std::string taken = buffer_.substr(0, size);
  buffer_.erase(0, taken.size());
  return taken;
}

std::string HttpClient::read_until(std::string_view end) {
  std::size_t position = 0;
  while ((position = buffer_.find(end)) == std::string::npos) {
    if (!read_some()) {
      return take(buffer_.size());
    }
  }
  return take(position + end.size());
}

std::string HttpClient::read_all() {
  while (read_some()) {
  }
  return take(buffer_.size());
}

std::string HttpClient::read_chunked() {
  std::string body;
  for (;;) {
    const std::string line = read_until("\r\n");
    std::size_t size = 0;
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (size == 0) {
      read_until("\r\n");
      return body;
    }
    body += take(size);
    read_until("\r\n");
  }
}

HttpClient::Response HttpClient::read_response(bool has_body) {
  Response response;
  const std::string head = read_until("\r\n\r\n");
  if (head.size() < 12) {
    return response;
  }
  std::from_chars(head.data() + 9, head.data() + 12, response.status);
  std::size_t begin = head.find("\r\n") + 2;
  while (begin < head.size()) {
    const std::size_t end = head.find("\r\n", begin);
    const std::size_t colon = head.find(": ", begin);
    if (end == begin || colon == std::string::npos) {
      break;
    }
    response.headers[lower_case(head.substr(begin, colon - begin))] =
        head.substr(colon + 2, end - colon - 2);
    begin = end + 2;
  }
  if (!has_body || response.status == 204) {
    return response;
  }
  if (response.headers.contains("transfer-encoding")) {
    response.body = read_chunked();
  } else if (response.headers.contains("content-length")) {
    response.body = take(std::stoul(response.headers["content-length"]));
  } else {
    response.body = read_all();
  }
  return response;
}

HttpClient::Response HttpClient::get(const std::string& path, const std::string& extra_headers) {
  send("GET " + path + " HTTP/1.1\r\nhost: test\r\n" + extra_headers + "\r\n");
  return read_response();
}

void HttpClient::send_post(
    const std::string& path, const std::string& body, const std::string& extra_headers
) {
  send(
      "POST " + path + " HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n" +
      "content-length: " + std::to_string(body.size()) + "\r\n" + extra_headers + "\r\n" + body
  );
}

HttpClient::Response HttpClient::post(
    const std::string& path, const std::string& body, const std::string& extra_headers
) {
  send_post(path, body, extra_headers);
  return read_response();
}

}  // namespace rapt
