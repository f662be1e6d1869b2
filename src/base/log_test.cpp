#include "base/log.h"

#include <gtest/gtest.h>

namespace rapt {
namespace {

TEST(Log, FieldsKeepALineALine) {
  EXPECT_EQ(kv("a", "plain").value, "plain");
  EXPECT_EQ(kv("a", "two words").value, "\"two words\"");
  EXPECT_EQ(kv("a", "line\nbreak").value, "\"line\\nbreak\"");
  EXPECT_EQ(kv("a", std::string("\x1b[31m")).value, "\"\\x1b[31m\"");
  EXPECT_EQ(kv("a", "").value, "\"\"");
}

TEST(Log, NumbersPrintAsNumbers) {
  EXPECT_EQ(kv("a", 42).value, "42");
  EXPECT_EQ(kv("a", -1L).value, "-1");
  EXPECT_EQ(kv("a", 18446744073709551615ULL).value, "18446744073709551615");
  EXPECT_EQ(kv("a", 0.25).value, "0.25");
  EXPECT_EQ(kv("a", true).value, "true");
}

TEST(Log, LevelsFilter) {
  set_log_level(LogLevel::kWarning);
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
  EXPECT_TRUE(log_enabled(LogLevel::kError));
  set_log_level(LogLevel::kInfo);
  EXPECT_TRUE(log_enabled(LogLevel::kInfo));
}

}  // namespace
}  // namespace rapt
