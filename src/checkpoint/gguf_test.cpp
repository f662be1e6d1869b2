#include "checkpoint/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::gguf_number;
using rapt::testing::gguf_string;
using rapt::testing::GgufWriter;
using rapt::testing::kGgufBF16;
using rapt::testing::kGgufF32;
using rapt::testing::kGgufQ8;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array kTypes = {
    BlockType{.name = "Q8_0", .gguf_id = 8, .elements = 32, .bytes = 34},
};

// The contents point into the bytes, which must live as long.
Result<GgufContents> parse(std::string&& bytes) = delete;

Result<GgufContents> parse(const std::string& bytes) {
  return parse_gguf(std::as_bytes(std::span(bytes)), "m.gguf", kTypes);
}

std::string_view data_of(const TensorInfo& info) {
  return {reinterpret_cast<const char*>(info.data), static_cast<std::size_t>(info.num_bytes)};
}

TEST(Gguf, ReadsTensorsOfPlainAndBlockTypes) {
  const std::string block(34, 'q');
  const std::string bytes = GgufWriter()
                                .add_tensor("a", kGgufF32, {2, 1}, "abcdefgh")
                                .add_tensor("b", kGgufQ8, {2, 3, 32}, std::string(6 * 34, 'q'))
                                .add_tensor("c", kGgufBF16, {3}, "xxyyzz")
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->version, 3);
  ASSERT_EQ(contents->tensors.size(), 3);
  const TensorInfo& a = contents->tensors[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.dtype, DType::kF32);
  EXPECT_EQ(a.block_type, nullptr);
  EXPECT_THAT(a.dims, ElementsAre(2, 1)) << "outermost first, though the file has it otherwise";
  EXPECT_EQ(data_of(a), "abcdefgh");
  const TensorInfo& b = contents->tensors[1];
  EXPECT_EQ(b.block_type, &kTypes[0]);
  EXPECT_THAT(b.dims, ElementsAre(2, 3, 32));
  EXPECT_EQ(b.num_bytes, 6 * 34);
  EXPECT_EQ(b.num_elements(), 6 * 32);
  EXPECT_EQ(b.type_name(), "Q8_0");
  EXPECT_EQ(data_of(contents->tensors[2]), "xxyyzz");
  EXPECT_EQ(contents->tensors[2].type_name(), "BF16");
}

TEST(Gguf, ReadsVersionTwo) {
  GgufWriter writer;
  writer.version = 2;
  const std::string bytes = writer.add_tensor("a", kGgufF32, {1}, "abcd").bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->version, 2);
}

TEST(Gguf, ReadsAFileWithoutTensors) {
  const std::string bytes = GgufWriter().add_text("general.name", "words only").bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_TRUE(contents->tensors.empty());
}

TEST(Gguf, ReadsAScalarAndATensorWithoutElements) {
  const std::string bytes = GgufWriter()
                                .add_tensor("scalar", kGgufF32, {}, "abcd")
                                .add_tensor("nothing", kGgufF32, {0, 4}, "")
                                .add_tensor("last", kGgufF32, {1}, "efgh")
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->tensors[0].num_elements(), 1);
  EXPECT_EQ(contents->tensors[1].num_elements(), 0);
  EXPECT_EQ(data_of(contents->tensors[2]), "efgh");
}

TEST(Gguf, FollowsTheFilesAlignment) {
  GgufWriter writer;
  writer.alignment = 64;
  writer.add_u32("general.alignment", 64);
  const std::string bytes =
      writer.add_tensor("a", kGgufF32, {1}, "abcd").add_tensor("b", kGgufF32, {1}, "efgh").bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->tensors[1].data - contents->tensors[0].data, 64);
  EXPECT_EQ(data_of(contents->tensors[1]), "efgh");
}

TEST(Gguf, ListsATensorOfATypeItDoesNotKnow) {
  const std::string bytes = GgufWriter()
                                .add_tensor("odd", 12, {256}, std::string(144, 'k'))
                                .add_tensor("odder", 99, {7}, "?")
                                .add_tensor("a", kGgufF32, {1}, "abcd")
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  const TensorInfo& odd = contents->tensors[0];
  EXPECT_EQ(odd.unknown_gguf_type, 12);
  EXPECT_EQ(odd.type_name(), "Q4_K");
  EXPECT_EQ(odd.num_elements(), 256);
  EXPECT_EQ(odd.data, nullptr);
  EXPECT_EQ(contents->tensors[1].type_name(), "type 99");
  EXPECT_EQ(data_of(contents->tensors[2]), "abcd");
}

// One value of each type, and what it reads as.
TEST(GgufMetadata, ReadsEachType) {
  const std::string bytes = GgufWriter()
                                .add_value("u8", 0, gguf_number(std::uint8_t{200}))
                                .add_value("i8", 1, gguf_number(std::int8_t{-5}))
                                .add_value("u16", 2, gguf_number(std::uint16_t{65535}))
                                .add_value("i16", 3, gguf_number(std::int16_t{-300}))
                                .add_value("u32", 4, gguf_number(std::uint32_t{4000000000}))
                                .add_value("i32", 5, gguf_number(std::int32_t{-70000}))
                                .add_f32("f32", 1e-5F)
                                .add_bool("bool", true)
                                .add_text("text", "hello")
                                .add_value("u64", 10, gguf_number(std::uint64_t{1} << 40))
                                .add_value("i64", 11, gguf_number(std::int64_t{-1}))
                                .add_value("f64", 12, gguf_number(0.1))
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  const GgufMetadata& metadata = contents->metadata;
  EXPECT_EQ(*metadata.integer("u8"), 200);
  EXPECT_EQ(*metadata.integer("i8"), -5);
  EXPECT_EQ(*metadata.integer("u16"), 65535);
  EXPECT_EQ(*metadata.integer("i16"), -300);
  EXPECT_EQ(*metadata.integer("u32"), 4000000000);
  EXPECT_EQ(*metadata.integer("i32"), -70000);
  EXPECT_EQ(*metadata.integer("u64"), std::int64_t{1} << 40);
  EXPECT_EQ(*metadata.integer("i64"), -1);
  EXPECT_EQ(*metadata.token_id("i64"), -1);
  EXPECT_EQ(*metadata.token_id("u32"), 4000000000);
  EXPECT_EQ(*metadata.boolean_or("bool", false), true);
  EXPECT_EQ(*metadata.text("text"), "hello");
  EXPECT_EQ(
      to_json_text(metadata.to_json("", 0)),
      R"({"u8":200,"i8":-5,"u16":65535,"i16":-300,"u32":4000000000,"i32":-70000,"f32":1e-05,)"
      R"("bool":true,"text":"hello","u64":1099511627776,"i64":-1,"f64":0.1})"
  );
}

TEST(GgufMetadata, ReadsArrays) {
  const std::string inner =
      gguf_number(std::uint32_t{7}) + gguf_number(std::uint64_t{2}) + std::string("\1\0", 2);
  const std::string nested =
      gguf_number(std::uint32_t{9}) + gguf_number(std::uint64_t{2}) + inner + inner;
  const std::string bytes = GgufWriter()
                                .add_texts("texts", {"a", "", "ccc"})
                                .add_i32s("numbers", {3, -1})
                                .add_value("nested", 9, nested)
                                .add_texts("none", {})
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents) << contents.error().message;
  const GgufMetadata& metadata = contents->metadata;
  EXPECT_THAT(*metadata.texts("texts"), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(*metadata.integers("numbers"), ElementsAre(3, -1));
  EXPECT_TRUE(metadata.texts("none")->empty());
  EXPECT_TRUE(metadata.integers("none")->empty()) << "an empty array has no type to speak of";
  EXPECT_EQ(metadata.find("texts")->kind(), "an array of 3 strings");
  EXPECT_EQ(metadata.find("nested")->kind(), "an array of 2 arrays");
  EXPECT_EQ(
      to_json_text(metadata.to_json("n", 2)),
      R"({"numbers":[3,-1],"nested":[[true,false],[true,false]],"none":[]})"
  );
  EXPECT_FALSE(metadata.to_json("", 2).contains("texts")) << "longer than two elements";
}

TEST(GgufMetadata, SaysWhatItFoundInPlaceOfWhatWasExpected) {
  const std::string bytes = GgufWriter()
                                .add_text("text", "x")
                                .add_f32("number", 1.0F)
                                .add_value("huge", 10, gguf_number(~std::uint64_t{0}))
                                .add_i32s("list", {1})
                                .bytes();
  const auto contents = parse(bytes);
  ASSERT_TRUE(contents);
  const GgufMetadata& metadata = contents->metadata;
  EXPECT_EQ(
      metadata.integer("text").error().message, "m.gguf: \"text\" is a string; expected an integer"
  );
  EXPECT_EQ(metadata.integer("text").error().code, ErrorCode::kBadFile);
  EXPECT_EQ(
      metadata.integer("number").error().message,
      "m.gguf: \"number\" is a number; expected an integer"
  );
  EXPECT_EQ(
      metadata.integer("huge").error().message,
      "m.gguf: \"huge\" is an integer; expected at most 2^63 - 1"
  );
  EXPECT_EQ(
      metadata.text("gone").error().message, "m.gguf: \"gone\" is missing; expected a string"
  );
  EXPECT_EQ(
      metadata.texts("list").error().message,
      "m.gguf: \"list\" is an array of 1 integers; expected an array of strings"
  );
  EXPECT_THAT(metadata.boolean_or("list", true).error().message, HasSubstr("a truth value"));
  EXPECT_EQ(*metadata.boolean_or("gone", true), true);
}

TEST(GgufMetadata, StaysValidWhenMoved) {
  const std::string bytes = GgufWriter().add_text("a", "1").add_text("b", "2").bytes();
  auto contents = parse(bytes);
  ASSERT_TRUE(contents);
  const GgufMetadata metadata = std::move(contents->metadata);
  EXPECT_EQ(*metadata.text("b"), "2");
  EXPECT_EQ(metadata.entries().size(), 2);
}

}  // namespace
}  // namespace rapt
