#include <algorithm>

#include "base/check.h"
#include "server/errors_internal.h"
#include "server/http/router_internal.h"

namespace rapt {

namespace {

bool matches(const Router::Route& route, std::string_view path) {
  return route.is_prefix ? path.starts_with(route.path) && path.size() > route.path.size()
                         : path == route.path;
}

// A path is any bytes a client likes; an error message is valid UTF-8.
std::string shown_path(std::string_view path) {
  constexpr std::size_t kMaxShown = 200;
  std::string text(path.substr(0, kMaxShown));
  std::ranges::replace_if(
      text, [](char c) { return c <= ' ' || c >= 127; }, '?'
  );
  return text;
}

std::string_view effective_method(std::string_view method) {
  return method == "HEAD" ? "GET" : method;
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // The length of a key is no secret; its characters are.
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i] ^ other);
  }
  return difference == 0;
}

Router::Router(std::vector<std::string> api_keys, std::function<bool()> is_draining)
    : api_keys_(std::move(api_keys)), is_draining_(std::move(is_draining)) {}

void Router::add(Route route) {
  routes_.push_back(std::move(route));
}

const Router::Route* Router::find(std::string_view method, std::string_view path) const {
  const auto found = std::ranges::find_if(routes_, [&](const Route& route) {
    return route.method == effective_method(method) && matches(route, path);
  });
  return found == routes_.end() ? nullptr : &*found;
}

bool Router::has_route(std::string_view method, std::string_view path) const {
  return find(method, path) != nullptr;
}

std::string Router::allowed_methods(std::string_view path) const {
  std::string methods;
  for (const Route& route : routes_) {
    if (matches(route, path)) {
      methods += (methods.empty() ? "" : ", ") + route.method;
      methods += route.method == "GET" ? ", HEAD" : "";
    }
  }
  return methods.empty() ? methods : methods + ", OPTIONS";
}

bool Router::has_good_key(const HttpRequest& head) const {
  if (api_keys_.empty()) {
    return true;
  }
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = head.header("authorization");
  const bool is_bearer =
      header.size() > kScheme.size() &&
      std::ranges::equal(header.substr(0, kScheme.size()), kScheme, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
      });
  const std::string_view key = is_bearer ? header.substr(kScheme.size()) : std::string_view();
  bool is_good = false;
  for (const std::string& api_key : api_keys_) {
    is_good |= equal_in_constant_time(key, api_key);
  }
  return is_good && is_bearer;
}

std::optional<HttpReply> Router::screen(const HttpRequest& head) {
  const std::string allowed = allowed_methods(head.path);
  if (head.method == "OPTIONS" && (!allowed.empty() || head.path == "*")) {
    HttpReply reply;
    reply.status = 204;
    reply.headers.emplace_back("allow", allowed.empty() ? "GET, HEAD, POST, OPTIONS" : allowed);
    return reply;
  }
  const Route* route = find(head.method, head.path);
  if ((route == nullptr || route->needs_key) && !has_good_key(head)) {
    return error_reply(Error{
        ErrorCode::kUnauthenticated,
        "Incorrect or missing API key. Send it as \"Authorization: Bearer KEY\"."});
  }
  if (allowed.empty()) {
    return error_reply(not_found("There is no route " + shown_path(head.path) + "."));
  }
  if (route == nullptr) {
    HttpReply reply = error_reply(Error{
        ErrorCode::kMethodNotAllowed,
        "Method " + head.method + " is not allowed on " + shown_path(head.path) + ": use " +
            allowed + "."});
    reply.headers.emplace_back("allow", allowed);
    return reply;
  }
  if (is_draining_() && !route->works_while_draining) {
    return error_reply(Error{ErrorCode::kUnavailable, "The server is shutting down."});
  }
  return std::nullopt;
}

bool Router::is_quick(const HttpRequest& request) const {
  const Route* route = find(request.method, request.path);
  return route != nullptr && route->is_quick;
}

void Router::handle(HttpRequest request, std::shared_ptr<Responder> responder) {
  const Route* route = find(request.method, request.path);
  CHECK(route != nullptr, "a request without a route passed screen(): ", request.path);
  route->handler(std::move(request), std::move(responder));
}

}  // namespace rapt
