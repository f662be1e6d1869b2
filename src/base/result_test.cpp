#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace rapt {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') {
    return invalid_argument(std::string("not a digit: ") + c, "digit");
  }
  return c - '0';
}

Result<int> sum_of_digits(const std::string& text) {
  int sum = 0;
  for (const char c : text) {
    ASSIGN_OR_RETURN(const int digit, parse_digit(c));
    sum += digit;
  }
  return sum;
}

Result<void> all_digits(const std::string& text) {
  RETURN_IF_ERROR(sum_of_digits(text));
  return {};
}

TEST(Result, CarriesTheValue) {
  EXPECT_EQ(*sum_of_digits("1234"), 10);
  EXPECT_TRUE(all_digits("12"));
}

TEST(Result, CarriesTheFirstError) {
  const Result<int> result = sum_of_digits("1x3y");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "not a digit: x");
  EXPECT_EQ(result.error().param, "digit");
  EXPECT_EQ(all_digits("q").error().code, ErrorCode::kInvalidArgument);
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 7);
}

TEST(ResultDeathTest, ValueOfAnErrorAborts) {
  EXPECT_DEATH(parse_digit('z').value(), "not a digit: z");
}

}  // namespace
}  // namespace rapt
