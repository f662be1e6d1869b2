#include "base/json.h"

#include <gtest/gtest.h>

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
