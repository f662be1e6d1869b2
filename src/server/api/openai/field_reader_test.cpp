#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "server/api/openai/field_reader_internal.h"

namespace rapt::openai {
namespace {

json::object object_of(const std::string& text) {
  return parse_json(text, "the test").value().get_object();
}

TEST(FieldReader, ReadsEachKind) {
  const json::object object =
      object_of(R"({"b":true,"i":7,"n":0.5,"t":"x","o":{"k":1},"a":[1,2]})");
  FieldReader fields(object);
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.integer("i", 0, 10), 7);
  EXPECT_EQ(fields.number("n", 0, 1), 0.5);
  EXPECT_EQ(fields.number("i", 0, 10), 7.0);
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.object("o")->size(), 1U);
  EXPECT_EQ(fields.array("a")->size(), 2U);
  EXPECT_TRUE(fields.ok());
  EXPECT_TRUE(fields.unknown().empty());
}

TEST(FieldReader, NullIsAbsent) {
  const json::object object = object_of(R"({"x":null})");
  FieldReader fields(object);
  EXPECT_EQ(fields.boolean("x"), std::nullopt);
  EXPECT_EQ(fields.integer("x", 0, 1), std::nullopt);
  EXPECT_EQ(fields.text("x"), std::nullopt);
  EXPECT_EQ(fields.array("x"), nullptr);
  EXPECT_EQ(fields.text("y"), std::nullopt);
  EXPECT_TRUE(fields.ok());
}

TEST(FieldReader, WholeNumbersAreIntegersHoweverWritten) {
  const json::object object = object_of(R"({"a":16.0,"b":1e3,"c":16.5,"d":1e300})");
  FieldReader fields(object);
  EXPECT_EQ(fields.integer("a", 0, 100), 16);
  EXPECT_EQ(fields.integer("b", 0, 1000), 1000);
  EXPECT_TRUE(fields.ok());
  EXPECT_EQ(fields.integer("c", 0, 100), std::nullopt);
  EXPECT_EQ(fields.error().param, "c");
}

TEST(FieldReader, ErrorsNameFieldValueAndRange) {
  const json::object object = object_of(R"({"t":-1})");
  FieldReader fields(object, "messages[2].");
  fields.number("t", 0, 2);
  ASSERT_FALSE(fields.ok());
  EXPECT_EQ(fields.error().param, "messages[2].t");
  EXPECT_EQ(fields.error().message, "messages[2].t must be from 0 to 2, but is -1.");
  EXPECT_EQ(fields.error().reason, "invalid_value");
}

TEST(FieldReader, FirstErrorStays) {
  const json::object object = object_of(R"({"a":1,"b":2})");
  FieldReader fields(object);
  fields.text("a");
  fields.text("b");
  EXPECT_EQ(fields.error().param, "a");
  EXPECT_EQ(fields.error().message, "a must be a string, but is an integer.");
}

TEST(FieldReader, HugeIntegersAreOutOfRange) {
  const json::object object = object_of(R"({"a":18446744073709551615})");
  FieldReader fields(object);
  EXPECT_EQ(
      fields.integer(
          "a", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()
      ),
      std::nullopt
  );
  EXPECT_EQ(
      fields.error().message, "a must be a signed 64-bit integer, but is 18446744073709551615."
  );
}

TEST(FieldReader, TellsUnknownFields) {
  const json::object object = object_of(R"({"a":1,"b":2,"c":null})");
  FieldReader fields(object);
  fields.find("b");
  EXPECT_THAT(fields.unknown(), ::testing::ElementsAre("a", "c"));
}

TEST(Shown, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(shown(json::value("short")), "\"short\"");
  const std::string text = std::string(39, 'a') + "\xC3\xA4" + "rest";
  EXPECT_EQ(shown(json::value(text)), "\"" + std::string(39, 'a') + "\"...");
  EXPECT_EQ(shown(json::array{1, 2}), "an array");
}

}  // namespace
}  // namespace rapt::openai
