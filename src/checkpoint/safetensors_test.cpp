#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "checkpoint/json_keys_internal.h"
#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The tensors point into `bytes`, which therefore may not be a temporary.
Result<std::vector<TensorInfo>> parse(std::string&& bytes) = delete;

Result<std::vector<TensorInfo>> parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "f");
}

std::string data_of(const TensorInfo& info) {
  return {reinterpret_cast<const char*>(info.data), static_cast<std::size_t>(info.num_bytes)};
}

TEST(Safetensors, GivesNameTypeShapeAndDataOfEachTensor) {
  const std::string bytes = safetensors_bytes(
      {{"w", "BF16", {2, 3}, "abcdefghijkl"},
       {"scales", "U8", {2}, "yz"},
       {"n", "I64", {}, "12345678"}}
  );
  const auto tensors = parse(bytes);
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 3U);
  const TensorInfo& w = (*tensors)[0];
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.dtype, DType::kBF16);
  EXPECT_THAT(w.dims, ElementsAre(2, 3));
  EXPECT_EQ(w.num_elements(), 6);
  EXPECT_EQ(data_of(w), "abcdefghijkl");
  EXPECT_EQ(data_of((*tensors)[1]), "yz");
  EXPECT_THAT((*tensors)[2].dims, IsEmpty());
  EXPECT_EQ((*tensors)[2].num_elements(), 1);
}

TEST(Safetensors, ReadsEachSupportedElementType) {
  const std::pair<const char*, DType> types[] = {
      {"F32", DType::kF32},
      {"F16", DType::kF16},
      {"BF16", DType::kBF16},
      {"U8", DType::kU8},
      {"I8", DType::kI8},
      {"I32", DType::kI32},
      {"I64", DType::kI64}};
  for (const auto& [name, dtype] : types) {
    const std::string data(static_cast<std::size_t>(3 * size_of(dtype)), 'x');
    const std::string bytes = safetensors_bytes({{"t", name, {3}, data}});
    const auto tensors = parse(bytes);
    ASSERT_TRUE(tensors) << tensors.error().message;
    EXPECT_EQ((*tensors)[0].dtype, dtype);
  }
}

TEST(Safetensors, OrdersTensorsByTheirData) {
  const std::string bytes = safetensors_bytes(
      R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "xyz"
  );
  const auto tensors = parse(bytes);
  ASSERT_TRUE(tensors) << tensors.error().message;
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ(data_of((*tensors)[1]), "yz");
}

TEST(Safetensors, AcceptsMetadataUnknownFieldsAndTrailingBlanks) {
  const std::string bytes = safetensors_bytes(
      R"({"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":[[1]]}}   )",
      "x"
  );
  const auto tensors = parse(bytes);
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 1U);
}

TEST(Safetensors, AcceptsTensorsWithoutElementsAndFilesWithoutTensors) {
  const std::string bytes = safetensors_bytes({{"none", "F32", {0, 7}, ""}, {"a", "U8", {1}, "x"}});
  const auto tensors = parse(bytes);
  ASSERT_TRUE(tensors) << tensors.error().message;
  EXPECT_EQ((*tensors)[0].num_elements(), 0);
  const std::string empty = safetensors_bytes("{}", "");
  const auto nothing = parse(empty);
  ASSERT_TRUE(nothing);
  EXPECT_THAT(*nothing, IsEmpty());
}

TEST(Safetensors, TakesALengthThatLooksLikeAnotherFormatForALength) {
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  header.resize('<', ' ');
  const std::string bytes = safetensors_bytes(header, "x");
  const auto tensors = parse(bytes);
  EXPECT_TRUE(tensors) << tensors.error().message;
}

TEST(WeightFile, KeepsTensorsValidWhenMoved) {
  const TempFolder folder;
  const std::string path =
      folder.write("m.safetensors", safetensors_bytes({{"a", "U8", {3}, "abc"}}));
  Result<WeightFile> opened = open_safetensors(path);
  ASSERT_TRUE(opened) << opened.error().message;
  const TensorInfo* info = &opened->tensors()[0];
  const WeightFile file = std::move(*opened);
  EXPECT_EQ(&file.tensors()[0], info);
  EXPECT_EQ(data_of(*info), "abc");
  EXPECT_EQ(file.path(), path);
}

TEST(JsonKeys, FindsTheFirstKeyAnObjectHasTwice) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1,"b":2,"a":3})", "a"},
      {R"({"a":1, "b":{"x":[{"y":1,"y" : 2}]}})", "y"},
      {R"({"a":1,"\u0061":2})", "a"},
      {R"({"q\"":1,"q\"":2})", "q\""}};
  for (const auto& [text, key] : cases) {
    EXPECT_EQ(find_duplicate_key(text), key) << text;
  }
}

TEST(JsonKeys, DoesNotTakeValuesOrOtherObjectsKeysForDuplicates) {
  for (const char* text :
       {R"({"a":"a","b":["a","a"],"c":{"a":1},"d":{"a":2}})",
        R"({"a":"\"a\":","b":"}{"})",
        R"(["a","a"])",
        "1"}) {
    EXPECT_EQ(find_duplicate_key(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rapt
