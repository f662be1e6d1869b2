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

json::value string_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

}  // namespace

int http_status(ErrorCode code) {
  return meaning_of(code).status;
}

json::object error_object(const Error& error) {
  const HttpMeaning meaning = meaning_of(error.code);
  json::object inner;
  inner["message"] = error.message;
  inner["type"] = meaning.type;
  inner["param"] = string_or_null(error.param);
  inner["code"] = string_or_null(error.reason.empty() ? meaning.code : error.reason);
  json::object outer;
  outer["error"] = std::move(inner);
  return outer;
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
