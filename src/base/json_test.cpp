#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace rapt {
namespace {

std::string round_trip(const std::string& text) {
  return to_json_text(*parse_json(text, "test"));
}

TEST(Json, KeepsKeyOrderAndNumberKinds) {
  EXPECT_EQ(
      round_trip(R"({"b":1,"a":[1.5,-2,true,null,"x"]})"), R"({"b":1,"a":[1.5,-2,true,null,"x"]})"
  );
  EXPECT_EQ(round_trip("0.1"), "0.1");
  EXPECT_EQ(round_trip(" 18446744073709551615 \n"), "18446744073709551615");
}

TEST(Json, ReadsDoublesExactly) {
  for (const char* text :
       {"7.9084e+29",
        "0.30000000000000004",
        "1.7976931348623157e+308",
        "5e-324",
        "2.2250738585072014e-308",
        "9007199254740993.5",
        "123456789012345680000"}) {
    EXPECT_EQ(parse_json(text, "test")->as_double(), std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(parse_json("1e-999", "test")->as_double(), 0.0);
  const std::string digits(5000, '7');
  const std::string text = "0." + digits;
  EXPECT_EQ(parse_json(text, "test")->as_double(), std::strtod(text.c_str(), nullptr));
  EXPECT_EQ(round_trip("[0.5,1,-2.5e-7,3]"), "[0.5,1,-2.5e-07,3]");
}

TEST(Json, EscapesControlCharacters) {
  EXPECT_EQ(round_trip(R"("a\u0000\u001f\n\"\\")"), R"("a\u0000\u001f\n\"\\")");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text :
       {"",
        " ",
        "{",
        "[1,]",
        "{\"a\":}",
        "nul",
        "1 2",
        "\"\xff\"",
        "1e400",
        "[-1e999]",
        "{\"a\":1e400}",
        "'a'"}) {
    const auto result = parse_json(text, "the request body");
    ASSERT_FALSE(result) << text;
    EXPECT_TRUE(result.error().message.starts_with("the request body ")) << result.error().message;
  }
}

TEST(Json, BoundsTheDepth) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(parse_json(deep, "test"));
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']'), "test"));
}

TEST(Json, NamesKinds) {
  EXPECT_EQ(json_kind_name(*parse_json("{}", "t")), "an object");
  EXPECT_EQ(json_kind_name(*parse_json("1", "t")), "an integer");
  EXPECT_EQ(json_kind_name(*parse_json("1.5", "t")), "a number");
}

}  // namespace
}  // namespace rapt
