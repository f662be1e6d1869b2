#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "server/api/openai/chat_request_internal.h"
#include "server/errors_internal.h"
#include "server/page/page_routes_internal.h"
#include "text/chat/chat_format.h"
#include "web/web_assets.h"

namespace rapt {

namespace {

constexpr std::string_view kAssets = "/assets/";
constexpr std::string_view kServerFacts = "/assets/server.json";

// The page shows what a model says, and that is anybody's text. So the browser is told to run
// nothing but our own files, to load nothing from elsewhere, to make no markup out of text, and to
// show the page inside no other.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

void add_safety_headers(HttpReply& reply) {
  reply.headers.emplace_back("content-security-policy", kPolicy);
  reply.headers.emplace_back("x-content-type-options", "nosniff");
  reply.headers.emplace_back("referrer-policy", "no-referrer");
  reply.headers.emplace_back("cross-origin-opener-policy", "same-origin");
  reply.headers.emplace_back("cross-origin-resource-policy", "same-origin");
}

// Whether a list such as "gzip, deflate;q=0.5" names gzip without refusing it.
bool accepts_gzip(std::string_view list) {
  const std::size_t at = list.find("gzip");
  if (at == std::string_view::npos) {
    return false;
  }
  std::string rest(list.substr(at, list.find(',', at) - at));
  std::erase(rest, ' ');
  return !rest.ends_with(";q=0") && rest.find(";q=0.0") == std::string::npos;
}

HttpReply asset_reply(const WebAsset& asset, const HttpRequest& request) {
  HttpReply reply;
  add_safety_headers(reply);
  // Kept by the browser, but asked about each time: a new version of the program shows at once. The
  // tag is weak, since it names both the plain and the compressed form.
  const std::string etag = "W/" + std::string(asset.etag);
  reply.headers.emplace_back("cache-control", "no-cache");
  reply.headers.emplace_back("etag", etag);
  reply.headers.emplace_back("vary", "accept-encoding");
  if (request.header("if-none-match").find(asset.etag) != std::string_view::npos) {
    reply.status = 304;
    return reply;
  }
  reply.content_type = asset.content_type;
  if (accepts_gzip(request.header("accept-encoding"))) {
    reply.headers.emplace_back("content-encoding", "gzip");
    reply.body = asset.gzip;
  } else {
    reply.body = asset.bytes;
  }
  return reply;
}

HttpReply find_asset(std::string_view path, const HttpRequest& request) {
  const std::span<const WebAsset> assets = web_assets();
  const auto found = std::ranges::find(assets, path, &WebAsset::path);
  if (found == assets.end()) {
    return error_reply(not_found("The page has no such file."));
  }
  return asset_reply(*found, request);
}

// Whether chat requests may ask for answers of a given shape: asked of the code that reads them, so
// that the page follows by itself.
bool has_structured_output() {
  const Result<json::value> body = parse_json(
      R"({"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema",)"
      R"("json_schema":{"name":"a","schema":{"type":"object"}}}})",
      "the question"
  );
  return body && openai::parse_chat_request(*body).has_value();
}

HttpReply server_facts(const Router& router, const ApiContext& context) {
  const ChatFormat* format = context.chat_format;
  HttpReply reply;
  add_safety_headers(reply);
  reply.headers.emplace_back("cache-control", "no-store");
  reply.body = to_json_text(json::object{
      {"needs_key", !context.config.api_keys.empty()},
      {"structured_output", has_structured_output()},
      {"reasoning_effort", format != nullptr && format->has_reasoning_effort()},
      {"attention_plan", router.has_route("GET", "/v1/engine/attention")},
  });
  return reply;
}

}  // namespace

void add_page_routes(Router& router, const ApiContext& context) {
  using ResponderPtr = std::shared_ptr<Responder>;
  const auto add = [&router](std::string_view path, bool is_prefix, auto make_reply) {
    router.add(
        {.method = "GET",
         .path = std::string(path),
         .handler = [make_reply](
                        const HttpRequest& request, const ResponderPtr& responder
                    ) { responder->send(make_reply(request)); },
         .is_prefix = is_prefix,
         .needs_key = false,
         .works_while_draining = true,
         .is_quick = true}
    );
  };
  add("/", false, [](const HttpRequest& request) { return find_asset("index.html", request); });
  // Before the files, of which it looks like one.
  add(kServerFacts, false, [&router, &context](const HttpRequest&) {
    return server_facts(router, context);
  });
  add(kAssets, true, [](const HttpRequest& request) {
    return find_asset(std::string_view(request.path).substr(kAssets.size()), request);
  });
}

}  // namespace rapt
