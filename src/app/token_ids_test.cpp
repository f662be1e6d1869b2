#include "app/token_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TokenIds, ReadsCommasBlanksAndBrackets) {
  EXPECT_THAT(*parse_token_ids("1,2,3", "x"), ElementsAre(1, 2, 3));
  EXPECT_THAT(*parse_token_ids(" [200006, 17360 ,\t5]\r\n", "x"), ElementsAre(200006, 17360, 5));
}

TEST(TokenIds, RefusesWhatIsNoId) {
  for (const char* text : {"1,-2", "1,a", "1.5", "99999999999", "", "[]", "0x1"}) {
    EXPECT_FALSE(parse_token_ids(text, "x").has_value()) << text;
  }
  EXPECT_THAT(
      parse_token_ids("1,b2", "--token-ids").error().message, HasSubstr("--token-ids: 'b2'")
  );
}

TEST(TokenIds, FilesThatCannotBeReadAreNamed) {
  EXPECT_THAT(read_token_ids_file("/nowhere/ids").error().message, HasSubstr("/nowhere/ids"));
  EXPECT_FALSE(read_token_ids_file(::testing::TempDir()).has_value());
}

}  // namespace
}  // namespace rapt
