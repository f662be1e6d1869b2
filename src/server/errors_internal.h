#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "server/http/http_message_internal.h"

namespace rapt {

// The one place where an Error becomes HTTP: status, headers, and OpenAI's error object, which has
// exactly the keys message, type, param and code, the last two a string or null.

int http_status(ErrorCode code);

// {"error": {"message", "type", "param", "code"}}
json::object error_object(const Error& error);

HttpReply error_reply(const Error& error);

}  // namespace rapt
