#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "app/flag_values_internal.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;

constexpr FlagSpec kBytesFlag = {
    .name = "bytes", .kind = FlagKind::kBytes, .range = {.low = 1, .high = 1LL << 50}};
constexpr FlagSpec kCountFlag = {
    .name = "count",
    .kind = FlagKind::kCount,
    .range = {.low = 1, .high = 1 << 24},
    .auto_word = "auto"};

Result<FlagValue> convert(const FlagSpec& flag, std::vector<std::string> texts) {
  return convert_flag(flag, texts, "here");
}

std::optional<std::int64_t> whole(const FlagSpec& flag, const std::string& text) {
  const Result<FlagValue> value = convert(flag, {text});
  return value ? std::optional<std::int64_t>(value->whole) : std::nullopt;
}

TEST(FlagValues, ReadsSuffixes) {
  EXPECT_EQ(whole(kBytesFlag, "123"), 123);
  EXPECT_EQ(whole(kBytesFlag, "2k"), 2000);
  EXPECT_EQ(whole(kBytesFlag, "2K"), 2048);
  EXPECT_EQ(whole(kBytesFlag, "2kB"), 2000);
  EXPECT_EQ(whole(kBytesFlag, "2KiB"), 2048);
  EXPECT_EQ(whole(kBytesFlag, "3 MiB"), 3LL << 20);
  EXPECT_EQ(whole(kBytesFlag, "1.5GiB"), 3LL << 29);
  EXPECT_EQ(whole(kBytesFlag, "2G"), 2LL << 30);
  EXPECT_EQ(whole(kBytesFlag, "1t"), 1'000'000'000'000);
  EXPECT_EQ(whole(kCountFlag, "25.6k"), 25600);
}

TEST(FlagValues, RefusesWhatIsNoSize) {
  for (const char* text : {"", "k", "-1", "1.5", "1e3", "2X", "2KiBs", "0x10", "inf", "2000TiB"}) {
    EXPECT_EQ(whole(kBytesFlag, text), std::nullopt) << text;
  }
}

TEST(FlagValues, AutoMeansZeroOnlyWhereItIsAllowed) {
  EXPECT_EQ(whole(kCountFlag, "auto"), 0);
  EXPECT_EQ(whole(kBytesFlag, "auto"), std::nullopt);
  EXPECT_EQ(whole(kCountFlag, "0"), std::nullopt);
}

TEST(FlagValues, WholeNumbersKeepAllTheirDigits) {
  constexpr FlagSpec kSeed = {
      .name = "seed", .kind = FlagKind::kInt, .range = {.low = 0, .high = 9e18}};
  EXPECT_EQ(whole(kSeed, "8999999999999999999"), 8999999999999999999);
  EXPECT_EQ(whole(kSeed, "99999999999999999999"), std::nullopt);
  EXPECT_EQ(whole(kSeed, "1.0"), std::nullopt);
}

TEST(FlagValues, ListsAreSplitAndTrimmed) {
  constexpr FlagSpec kNames = {.name = "names", .kind = FlagKind::kTexts};
  EXPECT_THAT(convert(kNames, {"a, b", "c"})->texts, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(convert(kNames, {"a,,b"}).has_value());
  constexpr FlagSpec kKeys = {.name = "keys", .kind = FlagKind::kWholeTexts};
  EXPECT_THAT(convert(kKeys, {"a, b", "c"})->texts, ElementsAre("a, b", "c"));
}

TEST(FlagValues, DatesAreChecked) {
  constexpr FlagSpec kDate = {.name = "date", .kind = FlagKind::kDate, .choices = "today"};
  for (const char* text : {"2025-08-05", "today"}) {
    EXPECT_TRUE(convert(kDate, {text}).has_value()) << text;
  }
  for (const char* text : {"", "2025-13-05", "2025-00-05", "2025-08-32", "05.08.2025", "none"}) {
    EXPECT_FALSE(convert(kDate, {text}).has_value()) << text;
  }
}

TEST(FlagValues, SwitchesTakeTheUsualWords) {
  constexpr FlagSpec kSwitch = {.name = "switch", .kind = FlagKind::kSwitch};
  EXPECT_TRUE(convert(kSwitch, {"yes"})->on);
  EXPECT_FALSE(convert(kSwitch, {"off"})->on);
  EXPECT_FALSE(convert(kSwitch, {"maybe"}).has_value());
}

TEST(FlagValues, ErrorsNamePlaceValueAndRange) {
  const Result<FlagValue> value = convert(kBytesFlag, {"many"});
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(
      value.error().message,
      "here: 'many' does not work here; it takes a size, such as 512MiB or 8GiB, from 1 to 1024TiB"
  );
  EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rapt
