#include <algorithm>

#include "server/http/http_message_internal.h"

namespace rapt {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool percent_decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) {
      return false;
    }
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) {
      return false;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

// The length of "http://" or "https://" at the beginning, else 0.
std::size_t scheme_length(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    const bool is_this =
        target.size() >= scheme.size() &&
        std::ranges::equal(target.substr(0, scheme.size()), scheme, [](char a, char b) {
          return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
        });
    if (is_this) {
      return scheme.size();
    }
  }
  return 0;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, [](const auto& header) {
    return std::string_view(header.first);
  });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view http_reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

bool may_begin_chunk(std::string_view bytes, bool is_first) {
  if (!is_first) {
    constexpr std::string_view kLineEnd = "\r\n";
    const std::string_view end = bytes.substr(0, kLineEnd.size());
    if (!kLineEnd.starts_with(end)) {
      return false;
    }
    bytes.remove_prefix(end.size());
  }
  if (bytes.empty()) {
    return true;
  }
  const auto after_size = std::ranges::find_if(bytes, [](char c) { return hex_digit(c) < 0; });
  if (after_size == bytes.begin()) {
    return false;
  }
  constexpr std::string_view kMayFollow = "; \t\r";
  return after_size == bytes.end() || kMayFollow.find(*after_size) != std::string_view::npos;
}

bool parse_target(std::string_view target, std::string& path, std::string& query) {
  if (const std::size_t size = scheme_length(target); size > 0) {
    target.remove_prefix(size);
    const std::size_t host_size = std::min(target.find_first_of("/?#"), target.size());
    if (host_size == 0) {
      return false;
    }
    target.remove_prefix(host_size);
    if (target.empty()) {
      target = "/";
    }
  }
  if (target == "*") {
    path = "*";
    query.clear();
    return true;
  }
  if (!target.starts_with('/')) {
    return false;
  }
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  query = mark == std::string_view::npos ? "" : std::string(target.substr(mark + 1));
  return percent_decode(target.substr(0, mark), path);
}

}  // namespace rapt
