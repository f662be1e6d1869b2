#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rapt {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// One request as the routes see it: plain values, no trace of the library that read it. `path` is
// percent-decoded and without the query.
struct HttpRequest {
  std::string method;
  std::string path;
  std::string query;
  HttpHeaders headers;  // names in lower case
  std::string body;
  std::string request_id;  // the client's x-request-id, or one that was made here

  // The first header called `name` (lower case), or "".
  std::string_view header(std::string_view name) const;
};

// A whole answer. Length, date, connection and request id headers are added when it is written.
struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = "";
  HttpHeaders headers = {};
};

std::string_view http_reason_phrase(int status);

// Whether a chunk of a chunked body may go on like this: `bytes` is as much as has come of the line
// end after the previous chunk (none before the first) and of the line with its size.
bool may_begin_chunk(std::string_view bytes, bool is_first);

// Splits and decodes a request target ("/a%20b?x=1", or with http or https and a host before it).
// False when it is no path or holds a broken or NUL escape.
bool parse_target(std::string_view target, std::string& path, std::string& query);

}  // namespace rapt
