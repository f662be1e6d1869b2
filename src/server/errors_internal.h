#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "server/http/http_message_internal.h"

namespace rapt {

// The one place where an Error becomes HTTP: status, headers, and OpenAI's error object, which has
// exactly the keys message, type, param and code, the last two a string or null. Bytes in them that
// are no UTF-8 become U+FFFD.

int http_status(ErrorCode code);

// {"error": {"message", "type", "param", "code"}}
json::object error_object(const Error& error);

HttpReply error_reply(const Error& error);

// 408: the rest of a request has not come.
HttpReply request_timeout_reply();

}  // namespace rapt
