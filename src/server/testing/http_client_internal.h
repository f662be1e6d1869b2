#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rapt {

// A blocking HTTP client for tests: it sends any bytes, and it can leave at any moment. Reads give
// up after 20 s.
class HttpClient {
 public:
  struct Response {
    int status = 0;                              // 0: there was none
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;

    json::value json() const;
    // The data of all server-sent events in the body.
    std::vector<std::string> events() const;
  };

  explicit HttpClient(int port, const std::string& address = "127.0.0.1");
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool is_connected() const { return socket_ >= 0; }

  void send(std::string_view bytes);
  // Ends the sending side only.
  void finish_sending();
  // Closes at once, with a reset when `abruptly`.
  void close(bool abruptly = false);

  // The next response, with its whole body. `has_body` is false after HEAD.
  Response read_response(bool has_body = true);
  // Whatever comes until `end` has come; all that came so far when the other side closes.
  std::string read_until(std::string_view end);
  // Reads until the other side closes.
  std::string read_all();

  Response get(const std::string& path, const std::string& extra_headers = "");
  Response post(
      const std::string& path, const std::string& body, const std::string& extra_headers = ""
  );
  void send_post(
      const std::string& path, const std::string& body, const std::string& extra_headers = ""
  );

 private:
  bool read_some();
  std::string take(std::size_t size);
  std::string read_chunked();

  int socket_ = -1;
  std::string buffer_;
};

}  // namespace rapt
