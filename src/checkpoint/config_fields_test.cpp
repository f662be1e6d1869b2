#include "checkpoint/config_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rapt {
namespace {

using ::testing::ElementsAre;

class ConfigFieldsTest : public ::testing::Test {
 protected:
  ConfigFields fields_of(const char* text) {
    value_ = *parse_json(text, "text");
    return *ConfigFields::of(value_, "c.json");
  }

  json::value value_;
};

template <typename T>
std::string message_of(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST_F(ConfigFieldsTest, ReadsEachKind) {
  ConfigFields fields =
      fields_of(R"({"n":3,"x":1.5,"whole":2,"yes":true,"name":"yarn","nothing":null})");
  EXPECT_EQ(*fields.integer({"n"}, {1, 3}), 3);
  EXPECT_EQ(*fields.number({"x"}, {}), 1.5);
  EXPECT_EQ(*fields.number({"whole"}, {}), 2.0);
  EXPECT_TRUE(*fields.boolean_or("yes", false));
  EXPECT_EQ(*fields.text_or("name", ""), "yarn");
  EXPECT_EQ(fields.find("nothing"), nullptr);
}

TEST_F(ConfigFieldsTest, FallsBackWhenAFieldIsAbsentOrNull) {
  ConfigFields fields = fields_of(R"({"n":null})");
  EXPECT_EQ(*fields.integer_or({"n", "m"}, {}, 7), 7);
  EXPECT_EQ(*fields.number_or({"x"}, {}, 0.5), 0.5);
  EXPECT_FALSE(*fields.boolean_or("b", false));
  EXPECT_EQ(*fields.text_or("t", "default"), "default");
}

TEST_F(ConfigFieldsTest, NamesFieldValueAndWhatIsAllowed) {
  ConfigFields fields =
      fields_of(R"({"n":0,"f":2.0,"big":18446744073709551615,"s":"4","x":-1,"b":1,"t":[1,2]})");
  EXPECT_EQ(
      message_of(fields.integer({"n"}, {1, 9})),
      R"(c.json: "n" is 0; expected an integer from 1 to 9)"
  );
  EXPECT_EQ(
      message_of(fields.integer({"f"}, {1})), R"(c.json: "f" is 2; expected an integer from 1 on)"
  );
  EXPECT_EQ(
      message_of(fields.integer_or({"big"}, {}, 1)),
      R"(c.json: "big" is 18446744073709551615; expected an integer from 0 on)"
  );
  EXPECT_EQ(
      message_of(fields.integer({"s"}, {1, 9})),
      R"(c.json: "s" is "4"; expected an integer from 1 to 9)"
  );
  EXPECT_EQ(
      message_of(fields.number({"x"}, {0.0, 0.5})),
      R"(c.json: "x" is -1; expected a number from 0 to 0.5)"
  );
  EXPECT_EQ(
      message_of(fields.number_or({"s"}, {}, 1.0)),
      R"(c.json: "s" is "4"; expected a number from 0 on)"
  );
  EXPECT_EQ(
      message_of(fields.boolean_or("b", true)), R"(c.json: "b" is 1; expected true or false)"
  );
  EXPECT_EQ(message_of(fields.text_or("t", "")), R"(c.json: "t" is [1,2]; expected a string)");
  EXPECT_EQ(
      message_of(fields.integer({"gone", "lost"}, {})),
      R"(c.json has no "gone" or "lost", which is needed)"
  );
  EXPECT_EQ(message_of(fields.number({"gone"}, {})), R"(c.json has no "gone", which is needed)");
}

TEST_F(ConfigFieldsTest, WantsNamesOfOneFieldToAgree) {
  ConfigFields fields = fields_of(R"({"a":4,"b":4.0,"c":5})");
  EXPECT_EQ(*fields.integer({"a", "b"}, {}), 4);
  EXPECT_EQ(
      message_of(fields.integer({"a", "c"}, {})), R"(c.json: "c" is 5; its other name "a" says 4)"
  );
}

TEST_F(ConfigFieldsTest, ListsWhatNobodyRead) {
  ConfigFields fields = fields_of(R"({"z":1,"a":2,"m":null,"k":3})");
  ASSERT_TRUE(fields.integer({"a"}, {}));
  fields.skip({"k", "absent"});
  EXPECT_THAT(fields.unread(), ElementsAre("z"));
}

TEST(ConfigFields, WantsAnObject) {
  const json::value value = json::array{};
  EXPECT_EQ(
      message_of(ConfigFields::of(value, "c.json")), "c.json is an array; expected an object"
  );
}

}  // namespace
}  // namespace rapt
