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

TEST(Errors, ScarcityAsksToTryAgain) {
  const HttpReply reply = error_reply(Error{ErrorCode::kResourceExhausted, "Full."});
  EXPECT_EQ(reply.status, 429);
  ASSERT_EQ(reply.headers.size(), 1U);
  EXPECT_EQ(reply.headers[0].first, "retry-after");
  EXPECT_NE(reply.body.find("rate_limit_exceeded"), std::string::npos);
}

}  // namespace
}  // namespace rapt
