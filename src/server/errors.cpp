#include <cstdint>
#include <string_view>

#include "server/errors_internal.h"

namespace rapt {

namespace {

struct HttpMeaning {
  int status;
  std::string_view type;
  std::string_view code;         // used when the Error names no reason of its own; "" is null
  std::string_view retry_after;  // seconds; "" sends no such header
};

HttpMeaning meaning_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {400, "invalid_request_error", "", ""};
    case ErrorCode::kUnauthenticated:
      return {401, "invalid_request_error", "invalid_api_key", ""};
    case ErrorCode::kNotFound:
      return {404, "invalid_request_error", "", ""};
    case ErrorCode::kMethodNotAllowed:
      return {405, "invalid_request_error", "", ""};
    case ErrorCode::kPayloadTooLarge:
      return {413, "invalid_request_error", "request_too_large", ""};
    case ErrorCode::kResourceExhausted:
      return {429, "rate_limit_error", "rate_limit_exceeded", "1"};
    case ErrorCode::kUnavailable:
      return {503, "server_error", "service_unavailable", "5"};
    case ErrorCode::kBadFile:
    case ErrorCode::kInternal:
      break;
  }
  return {500, "server_error", "server_error", ""};
}

// The length of the character that `bytes` begins with, or 0 when it begins with none (Unicode,
// table 3-7: neither overlong forms nor surrogates).
std::size_t character_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : std::uint8_t{0};
  };
  const auto is_inside = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80; };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return is_inside(1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool is_allowed = lead == 0xE0 ? byte(1) >= 0xA0 : lead != 0xED || byte(1) < 0xA0;
    return is_allowed && is_inside(1) && is_inside(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool is_allowed = lead == 0xF0 ? byte(1) >= 0x90 : lead != 0xF4 || byte(1) < 0x90;
    return is_allowed && is_inside(1) && is_inside(2) && is_inside(3) ? 4 : 0;
  }
  return 0;
}

// Messages quote what clients send, which may be any bytes (a path), or a character cut in two.
std::string with_replacements(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    if (length == 0) {
      text += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

json::value string_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(with_replacements(text));
}

}  // namespace

int http_status(ErrorCode code) {
  return meaning_of(code).status;
}

json::object error_object(const Error& error) {
  const HttpMeaning meaning = meaning_of(error.code);
  json::object inner;
  inner["message"] = with_replacements(error.message);
  inner["type"] = meaning.type;
  inner["param"] = string_or_null(error.param);
  inner["code"] = string_or_null(error.reason.empty() ? meaning.code : error.reason);
  json::object outer;
  outer["error"] = std::move(inner);
  return outer;
}

HttpReply request_timeout_reply() {
  HttpReply reply = error_reply(Error{
      ErrorCode::kInvalidArgument,
      "The request did not come in completely in time.",
      "",
      "request_timeout"});
  reply.status = 408;
  return reply;
}

HttpReply error_reply(const Error& error) {
  const HttpMeaning meaning = meaning_of(error.code);
  HttpReply reply;
  reply.status = meaning.status;
  reply.body = to_json_text(error_object(error));
  if (!meaning.retry_after.empty()) {
    reply.headers.emplace_back("retry-after", meaning.retry_after);
  }
  if (meaning.status == 401) {
    reply.headers.emplace_back("www-authenticate", "Bearer");
  }
  return reply;
}

}  // namespace rapt
