#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_server_internal.h"

namespace rapt {

// Finds the route of a request and guards it: 404, 405 with Allow, 401 without a good key, 503
// while draining. HEAD is served by GET's route, OPTIONS says what is allowed. Routes are added
// before serving begins; afterwards the router is read by all threads.
class Router final : public HttpHandler {
 public:
  using Handler = std::function<void(HttpRequest, std::shared_ptr<Responder>)>;

  struct Route {
    std::string method;
    std::string path;
    Handler handler;
    bool is_prefix = false;  // `path` is the beginning of the paths that are meant
    bool needs_key = true;
    bool works_while_draining = false;
    bool is_quick = false;  // the handler takes next to no time, whatever the request
  };

  // `is_draining` is asked for each request.
  Router(std::vector<std::string> api_keys, std::function<bool()> is_draining);

  void add(Route route);
  bool has_route(std::string_view method, std::string_view path) const;

  std::optional<HttpReply> screen(const HttpRequest& head) override;
  bool is_quick(const HttpRequest& request) const override;
  void handle(HttpRequest request, std::shared_ptr<Responder> responder) override;

 private:
  const Route* find(std::string_view method, std::string_view path) const;
  std::string allowed_methods(std::string_view path) const;
  bool has_good_key(const HttpRequest& head) const;

  std::vector<std::string> api_keys_;
  std::function<bool()> is_draining_;
  std::vector<Route> routes_;
};

// Compares without telling by its time where the difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace rapt
