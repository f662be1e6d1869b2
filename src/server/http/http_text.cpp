#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <random>

#include "server/http/http_text_internal.h"
#include "server/http/responder_internal.h"

namespace rapt {

std::string random_hex(int num_digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kDigitsPerDraw = 8;
  std::random_device source;
  std::string text;
  unsigned int bits = 0;
  for (int i = 0; i < num_digits; ++i) {
    if (i % kDigitsPerDraw == 0) {
      bits = source();
    }
    text += kDigits[bits & 15U];
    bits >>= 4U;
  }
  return text;
}

std::string make_request_id() {
  return "req_" + random_hex(24);
}

std::string accept_request_id(std::string_view from_client) {
  constexpr std::size_t kMaxLength = 128;
  const bool is_usable =
      !from_client.empty() && from_client.size() <= kMaxLength &&
      std::ranges::all_of(from_client, [](char c) { return c > ' ' && c < 127; });
  return is_usable ? std::string(from_client) : make_request_id();
}

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 64> text{};
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text.data(), size};
}

void append_chunk(std::string& out, std::string_view data) {
  std::array<char, 20> size{};
  const auto [end, status] = std::to_chars(size.data(), size.data() + size.size(), data.size(), 16);
  out.append(size.data(), end);
  out.append("\r\n").append(data).append("\r\n");
}

void append_event(std::string& out, std::string_view data) {
  out.append("data: ").append(data).append("\n\n");
}

}  // namespace rapt
