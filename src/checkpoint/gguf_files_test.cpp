// GGUF models as checkpoints: one file, a folder with one, several parts.

#include "support/gguf_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/weight_loader.h"
#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::gguf_number;
using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::kGgufQ8;
using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::HasSubstr;

constexpr BlockType kQ8 = {.name = "Q8_0", .gguf_id = 8, .elements = 32, .bytes = 34};
constexpr BlockType kOther = {.name = "Q9_9", .gguf_id = 99, .elements = 32, .bytes = 36};
constexpr std::array kTypes = {kQ8};

std::string one_tensor(const std::string& name) {
  return GgufWriter()
      .add_text("general.architecture", "test")
      .add_tensor(name, kGgufF32, {1}, "abcd")
      .bytes();
}

// Part `idx` (from 0) of `count`, with one tensor of the whole model's `total`.
std::string part(const std::string& name, int idx, int count, std::uint32_t total) {
  return GgufWriter()
      .add_value("split.no", 2, gguf_number(static_cast<std::uint16_t>(idx)))
      .add_value("split.count", 2, gguf_number(static_cast<std::uint16_t>(count)))
      .add_value("split.tensors.count", 5, gguf_number(total))
      .add_tensor(name, kGgufF32, {1}, "abcd")
      .bytes();
}

void expect_refused(const std::string& path, const std::string& message) {
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(path, kTypes);
  ASSERT_FALSE(checkpoint) << "accepted; expected: " << message;
  EXPECT_THAT(checkpoint.error().message, HasSubstr(message));
}

TEST(GgufCheckpoint, IsAFileOrAFolderThatHoldsOne) {
  const TempFolder folder;
  const std::string file = folder.write("m.gguf", one_tensor("a"));
  for (const std::string& path : {file, folder.path(), folder.path() + "/"}) {
    const Result<CheckpointDir> checkpoint = CheckpointDir::open(path);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->layout(), CheckpointDir::Layout::kGguf);
    EXPECT_EQ(checkpoint->path(), path);
    EXPECT_EQ(checkpoint->weights_path(), file);
    ASSERT_NE(checkpoint->gguf(), nullptr);
    EXPECT_EQ(*checkpoint->gguf()->text("general.architecture"), "test");
    ASSERT_NE(checkpoint->find("a"), nullptr);
    EXPECT_EQ(checkpoint->file_of(*checkpoint->find("a")), file);
  }
}

TEST(GgufCheckpoint, IsFoundByItsContentToo) {
  const TempFolder folder;
  const Result<CheckpointDir> checkpoint =
      CheckpointDir::open(folder.write("sha256-0123abcd", one_tensor("a")));
  EXPECT_TRUE(checkpoint) << "Ollama keeps models under names like this";
}

TEST(GgufCheckpoint, HasNoCompanions) {
  const TempFolder folder;
  folder.write("m.gguf", one_tensor("a"));
  folder.write("tokenizer.json", "of another model");
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->find_companion("tokenizer.json"), std::nullopt);
}

TEST(GgufCheckpoint, ComesAfterSafetensors) {
  const TempFolder folder;
  folder.write("m.gguf", one_tensor("a"));
  folder.write("model.safetensors", safetensors_bytes({{"model.b", "U8", {1}, "x"}}));
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->gguf(), nullptr);
  EXPECT_NE(checkpoint->find("model.b"), nullptr);
}

TEST(GgufCheckpoint, AsksWhichOfSeveral) {
  const TempFolder folder;
  for (const char* name : {"b-Q4.gguf", "a-Q8-00001-of-00002.gguf", "a-Q8-00002-of-00002.gguf"}) {
    folder.write(name, one_tensor("a"));
  }
  expect_refused(
      folder.path(),
      folder.path() +
          " holds 2 GGUF models (\"a-Q8-00001-of-00002.gguf\", \"b-Q4.gguf\"); give the path of one"
  );
}

TEST(GgufCheckpoint, ReadsAllPartsWhicheverIsGiven) {
  const TempFolder folder;
  const std::string first = folder.write("m-00001-of-00002.gguf", part("a", 0, 2, 2));
  const std::string second = folder.write("m-00002-of-00002.gguf", part("b", 1, 2, 2));
  for (const std::string& path : {first, second, folder.path()}) {
    const Result<CheckpointDir> checkpoint = CheckpointDir::open(path);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->num_tensors(), 2);
    EXPECT_EQ(checkpoint->weights_path(), first);
    EXPECT_EQ(checkpoint->file_of(*checkpoint->find("b")), second);
    EXPECT_EQ(*checkpoint->gguf()->integer("split.no"), 0);
  }
}

TEST(GgufCheckpoint, RefusesPartsThatDoNotFit) {
  const TempFolder folder;
  const std::string first = folder.write("m-00001-of-00002.gguf", part("a", 0, 2, 2));
  expect_refused(
      first,
      first + " is a model in 2 parts, of which \"m-00002-of-00002.gguf\" is missing: the download"
  );
  folder.write("m-00002-of-00002.gguf", part("b", 0, 2, 2));
  expect_refused(first, "\"split.no\" is 0, which does not fit the number in the file's name");
  folder.write("m-00002-of-00002.gguf", part("b", 1, 3, 2));
  expect_refused(first, "says that it is one of 3 parts, not of 2");
  folder.write("m-00002-of-00002.gguf", part("a", 1, 2, 2));
  expect_refused(first, "tensor \"a\" lies both in");
  folder.write("m-00001-of-00002.gguf", part("a", 0, 2, 3));
  folder.write("m-00002-of-00002.gguf", part("b", 1, 2, 3));
  expect_refused(first, "says that the model has 3 tensors, but its parts hold 2");
  expect_refused(
      folder.write("renamed.gguf", part("a", 1, 2, 2)), "says that it is one of 2 parts, not of 1"
  );
  EXPECT_TRUE(CheckpointDir::open(folder.write("m-00000-of-00002.gguf", one_tensor("a"))))
      << "parts count from 1: this is a name like any other";
}

TEST(GgufCheckpoint, RefusesDamagedFiles) {
  const TempFolder folder;
  expect_refused(folder.write("empty.gguf", ""), "empty.gguf is empty");
  expect_refused(folder.write("text.gguf", "hello"), "text.gguf is no GGUF file");
  expect_refused(folder.write("none.gguf", GgufWriter().bytes()), "none.gguf holds no tensor");
  expect_refused(folder.path() + "/gone.gguf", "/gone.gguf does not exist");
}

class GgufWeightsTest : public ::testing::Test {
 protected:
  WeightLoader make_loader() {
    Result<CheckpointDir> checkpoint = CheckpointDir::open(path_, kTypes);
    CHECK(checkpoint.has_value());
    return WeightLoader(std::move(*checkpoint));
  }

  TempFolder folder_;
  std::string path_ = folder_.write(
      "m.gguf",
      GgufWriter()
          .add_tensor("plain", kGgufF32, {1}, "abcd")
          .add_tensor("blocks", kGgufQ8, {2, 32}, std::string(34, 'x') + std::string(34, 'y'))
          .add_tensor("odd", 14, {256}, std::string(210, 'o'))
          .bytes()
  );
};

TEST_F(GgufWeightsTest, GivesBlocksInPlace) {
  WeightLoader loader = make_loader();
  const auto blocks = loader.take_blocks("blocks", Shape{2, 32}, kQ8);
  ASSERT_TRUE(blocks) << blocks.error().message;
  EXPECT_EQ(blocks->size(), 68U);
  EXPECT_EQ(blocks->data(), loader.tensor_info("blocks")->data);
  EXPECT_EQ(static_cast<char>((*blocks)[34]), 'y');
  ASSERT_TRUE(loader.take("plain", Shape{1}, {DType::kF32}));
  EXPECT_THAT(
      loader.finish().error().message,
      HasSubstr("holds 1 tensors that the model its metadata describes does not have: \"odd\"")
  );
}

TEST_F(GgufWeightsTest, NamesWrongTypes) {
  WeightLoader loader = make_loader();
  EXPECT_EQ(
      loader.take("blocks", Shape{2, 32}, {DType::kU8}).error().message,
      path_ + ": tensor \"blocks\" has element type Q8_0; expected U8"
  );
  EXPECT_EQ(
      loader.take_blocks("plain", Shape{1}, kQ8).error().message,
      path_ + ": tensor \"plain\" has element type F32; expected Q8_0"
  );
  EXPECT_THAT(
      loader.take_blocks("blocks", Shape{2, 32}, kOther).error().message,
      HasSubstr("element type Q8_0; expected Q9_9")
  );
  EXPECT_EQ(
      loader.take("odd", Shape{256}, {DType::kF32}).error().message,
      path_ + ": tensor \"odd\" has element type Q6_K, which Rapt cannot read; expected F32"
  );
  EXPECT_EQ(
      loader.take_blocks("blocks", Shape{1, 64}, kQ8).error().message,
      path_ + ": tensor \"blocks\" has shape [2, 32]; expected [1, 64]"
  );
  EXPECT_EQ(
      loader.take_blocks("gone", Shape{32}, kQ8).error().message,
      path_ + " has no tensor \"gone\", which the model needs with shape [32] and element type Q8_0"
  );
}

}  // namespace
}  // namespace rapt
