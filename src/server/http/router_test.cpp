#include <gtest/gtest.h>

#include "server/http/router_internal.h"

namespace rapt {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  Router make(std::vector<std::string> keys = {}) {
    Router router(std::move(keys), [this] { return is_draining; });
    const auto handler = [](const HttpRequest&, const std::shared_ptr<Responder>&) {};
    router.add({.method = "POST", .path = "/work", .handler = handler});
    router.add(
        {.method = "GET",
         .path = "/health",
         .handler = handler,
         .needs_key = false,
         .works_while_draining = true,
         .is_quick = true}
    );
    router.add({.method = "GET", .path = "/items/", .handler = handler, .is_prefix = true});
    return router;
  }

  static HttpRequest request(
      const std::string& method, const std::string& path, const std::string& authorization = ""
  ) {
    HttpRequest head;
    head.method = method;
    head.path = path;
    if (!authorization.empty()) {
      head.headers.emplace_back("authorization", authorization);
    }
    return head;
  }

  // 0 when the request may pass.
  static int status(Router& router, const HttpRequest& head) {
    const std::optional<HttpReply> reply = router.screen(head);
    return reply ? reply->status : 0;
  }

  bool is_draining = false;
};

TEST_F(RouterTest, LetsKnownRoutesPass) {
  Router router = make();
  EXPECT_EQ(status(router, request("POST", "/work")), 0);
  EXPECT_EQ(status(router, request("GET", "/items/a/b")), 0);
  EXPECT_EQ(status(router, request("HEAD", "/health")), 0);
}

TEST_F(RouterTest, UnknownRouteIs404) {
  Router router = make();
  EXPECT_EQ(status(router, request("POST", "/work/")), 404);
  EXPECT_EQ(status(router, request("GET", "/items/")), 404);
  EXPECT_EQ(status(router, request("OPTIONS", "/nothing")), 404);
}

TEST_F(RouterTest, PathInTheMessageIsCleaned) {
  Router router = make();
  const std::optional<HttpReply> reply =
      router.screen(request("GET", "/\xFF\n" + std::string(500, 'a')));
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->body.find("/??aaa"), std::string::npos);
  EXPECT_LT(reply->body.size(), 400U);
}

TEST_F(RouterTest, WrongMethodIs405WithAllow) {
  Router router = make();
  const std::optional<HttpReply> reply = router.screen(request("GET", "/work"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 405);
  ASSERT_EQ(reply->headers.size(), 1U);
  EXPECT_EQ(reply->headers[0].first, "allow");
  EXPECT_EQ(reply->headers[0].second, "POST, OPTIONS");
}

TEST_F(RouterTest, OptionsTellsWhatIsAllowed) {
  Router router = make();
  const std::optional<HttpReply> reply = router.screen(request("OPTIONS", "/health"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 204);
  EXPECT_EQ(reply->headers[0].second, "GET, HEAD, OPTIONS");
}

TEST_F(RouterTest, AnyOfTheKeysOpens) {
  Router router = make({"first", "second"});
  EXPECT_EQ(status(router, request("POST", "/work", "Bearer first")), 0);
  EXPECT_EQ(status(router, request("POST", "/work", "bearer second")), 0);
}

TEST_F(RouterTest, WrongOrMissingKeysDoNot) {
  Router router = make({"first", "second"});
  for (const char* header :
       {"",
        "Bearer",
        "Bearer ",
        "Bearer firs",
        "Bearer firstx",
        "Bearer third",
        "Basic first",
        "first",
        "Bearer First"}) {
    EXPECT_EQ(status(router, request("POST", "/work", header)), 401) << header;
  }
}

TEST_F(RouterTest, UnknownRoutesAreHiddenFromStrangers) {
  Router router = make({"key"});
  EXPECT_EQ(status(router, request("GET", "/nothing")), 401);
  EXPECT_EQ(status(router, request("GET", "/nothing", "Bearer key")), 404);
}

TEST_F(RouterTest, HealthNeedsNoKey) {
  Router router = make({"key"});
  EXPECT_EQ(status(router, request("GET", "/health")), 0);
}

TEST_F(RouterTest, DrainingRefusesWorkOnly) {
  Router router = make();
  is_draining = true;
  EXPECT_EQ(status(router, request("POST", "/work")), 503);
  EXPECT_EQ(status(router, request("GET", "/health")), 0);
}

TEST_F(RouterTest, RoutesAreQuickWhenTheySaySo) {
  Router router = make();
  EXPECT_TRUE(router.is_quick(request("GET", "/health")));
  EXPECT_TRUE(router.is_quick(request("HEAD", "/health")));
  EXPECT_FALSE(router.is_quick(request("POST", "/work")));
  EXPECT_FALSE(router.is_quick(request("GET", "/items/a")));
}

TEST(EqualInConstantTime, ComparesWholeStrings) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
}

}  // namespace
}  // namespace rapt
