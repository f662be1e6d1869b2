#include <gtest/gtest.h>

#include "server/errors_internal.h"

namespace rapt {
namespace {

TEST(Errors, EveryCodeHasItsStatus) {
  EXPECT_EQ(http_status(ErrorCode::kInvalidArgument), 400);
  EXPECT_EQ(http_status(ErrorCode::kUnauthenticated), 401);
  EXPECT_EQ(http_status(ErrorCode::kNotFound), 404);
  EXPECT_EQ(http_status(ErrorCode::kMethodNotAllowed), 405);
  EXPECT_EQ(http_status(ErrorCode::kPayloadTooLarge), 413);
  EXPECT_EQ(http_status(ErrorCode::kResourceExhausted), 429);
  EXPECT_EQ(http_status(ErrorCode::kUnavailable), 503);
  EXPECT_EQ(http_status(ErrorCode::kInternal), 500);
  EXPECT_EQ(http_status(ErrorCode::kBadFile), 500);
}

TEST(Errors, ObjectHasExactlyTheFourKeys) {
  const Error error{ErrorCode::kInvalidArgument, "No \"x\".", "x", "invalid_value"};
  EXPECT_EQ(
      to_json_text(error_object(error)),
      R"({"error":{"message":"No \"x\".","type":"invalid_request_error","param":"x",)"
      R"("code":"invalid_value"}})"
  );
}

TEST(Errors, AbsentParamAndCodeAreNull) {
  EXPECT_EQ(
      to_json_text(error_object(invalid_argument("No."))),
      R"({"error":{"message":"No.","type":"invalid_request_error","param":null,"code":null}})"
  );
}

TEST(Errors, InvalidUtf8IsReplaced) {
  const std::string kReplaced = "\xEF\xBF\xBD";
  const auto shown = [](const std::string& bytes) {
    const json::object object = error_object(Error{ErrorCode::kNotFound, bytes, bytes, bytes});
    const json::object& inner = object.at("error").as_object();
    EXPECT_EQ(inner.at("message"), inner.at("param"));
    EXPECT_EQ(inner.at("message"), inner.at("code"));
    return std::string(inner.at("message").as_string());
  };
  for (const char* valid :
       {"abc",
        "\xC3\xA4",
        "\xE2\x82\xAC",
        "\xED\x9F\xBF",
        "\xEF\xBF\xBF",
        "\xF0\x9F\x98\x80",
        "\xF4\x8F\xBF\xBF",
        "\xC2\x80",
        "\xE0\xA0\x80",
        "\xF0\x90\x80\x80"}) {
    EXPECT_EQ(shown(valid), valid);
  }
  EXPECT_EQ(shown("a\xFFz"), "a" + kReplaced + "z");
  EXPECT_EQ(shown("\x80"), kReplaced);
  EXPECT_EQ(shown("a\xC3"), "a" + kReplaced);
  EXPECT_EQ(shown("\xC3\xA4\xE2\x82"), "\xC3\xA4" + kReplaced + kReplaced);
  // Overlong, a surrogate, past U+10FFFF.
  EXPECT_EQ(shown("\xC0\xAF"), kReplaced + kReplaced);
  EXPECT_EQ(shown("\xE0\x9F\xBF"), kReplaced + kReplaced + kReplaced);
  EXPECT_EQ(shown("\xED\xA0\x80"), kReplaced + kReplaced + kReplaced);
  EXPECT_EQ(shown("\xF0\x8F\xBF\xBF"), kReplaced + kReplaced + kReplaced + kReplaced);
  EXPECT_EQ(shown("\xF4\x90\x80\x80"), kReplaced + kReplaced + kReplaced + kReplaced);
}

TEST(Errors, ARequestThatDoesNotComeIs408) {
  const HttpReply reply = request_timeout_reply();
  EXPECT_EQ(reply.status, 408);
  EXPECT_NE(reply.body.find("\"code\":\"request_timeout\""), std::string::npos);
}

TEST(Errors, ScarcityAsksToTryAgain) {
  const HttpReply reply = error_reply(Error{ErrorCode::kResourceExhausted, "Full."});
  EXPECT_EQ(reply.status, 429);
  ASSERT_EQ(reply.headers.size(), 1U);
  EXPECT_EQ(reply.headers[0].first, "retry-after");
  EXPECT_NE(reply.body.find("rate_limit_exceeded"), std::string::npos);
}

}  // namespace
}  // namespace rapt
