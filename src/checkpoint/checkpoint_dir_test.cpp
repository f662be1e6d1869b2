#include "checkpoint/checkpoint_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::HasSubstr;
using Layout = CheckpointDir::Layout;

constexpr char kIndex[] = "model.safetensors.index.json";

std::string one_tensor(const std::string& name) {
  return safetensors_bytes({{name, "U8", {2}, "ab"}});
}

std::string index_of(const std::string& weight_map) {
  return R"({"metadata":{"total_size":4},"weight_map":{)" + weight_map + "}}";
}

void expect_refused(const std::string& path, const std::string& message) {
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(path);
  ASSERT_FALSE(checkpoint) << "accepted; expected: " << message;
  EXPECT_THAT(checkpoint.error().message, HasSubstr(message));
  EXPECT_TRUE(
      checkpoint.error().code == ErrorCode::kBadFile ||
      checkpoint.error().code == ErrorCode::kNotFound
  );
}

// A folder with two shards, "a" holding model.a and "b" holding model.b, and an index to write.
class ShardedTest : public ::testing::Test {
 protected:
  void expect_index_refused(const std::string& index, const std::string& message) {
    folder_.write(kIndex, index);
    expect_refused(folder_.path(), message);
  }

  TempFolder folder_;
  std::string a_ = folder_.write("a.safetensors", one_tensor("model.a"));
  std::string b_ = folder_.write("b.safetensors", one_tensor("model.b"));
};

TEST_F(ShardedTest, ReadsTheShardsTheIndexNames) {
  folder_.write(kIndex, index_of(R"("model.a":"a.safetensors","model.b":"b.safetensors")"));
  folder_.write("stray.safetensors", "not named by the index, so not read");
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder_.path() + "/");
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->num_tensors(), 2);
  EXPECT_EQ(checkpoint->num_tensor_bytes(), 4);
  EXPECT_EQ(checkpoint->files().size(), 2U);
  EXPECT_EQ(checkpoint->layout(), Layout::kHuggingFace);
  const TensorInfo* info = checkpoint->find("model.b");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(checkpoint->file_of(*info), b_);
  EXPECT_EQ(checkpoint->find("model.c"), nullptr);
}

TEST_F(ShardedTest, RefusesAnIndexThatTheShardsContradict) {
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.b":"b.safetensors","model.c":"b.safetensors")"),
      b_ + " has no tensor \"model.c\", which " + kIndex + " says it holds"
  );
  expect_index_refused(
      index_of(R"("model.a":"b.safetensors","model.b":"a.safetensors")"),
      "tensor \"model.a\" lies in " + a_ + "; " + kIndex + " says it is in b.safetensors"
  );
  folder_.write(
      "b.safetensors",
      safetensors_bytes({{"model.b", "U8", {1}, "x"}, {"model.extra", "U8", {1}, "x"}})
  );
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.b":"b.safetensors")"),
      b_ + " holds tensor \"model.extra\", which " + kIndex + " does not name"
  );
}

TEST_F(ShardedTest, RefusesMissingShards) {
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.b":"c.safetensors")"),
      folder_.path() + " lacks \"c.safetensors\" of the 2 weight files"
  );
  expect_index_refused(
      index_of(R"("model.a":"x.safetensors","model.b":"c.safetensors","m":"y.safetensors")"),
      "lacks \"c.safetensors\" and 2 more of the 3 weight files"
  );
}

TEST_F(ShardedTest, RefusesNamesThatLeaveTheFolder) {
  for (const char* name :
       {"../a.safetensors",
        "/etc/a.safetensors",
        "sub/a.safetensors",
        "..",
        "",
        ".safetensors",
        "a.bin",
        "a\\\\b.safetensors",
        "a\\u0000.safetensors"}) {
    expect_index_refused(
        index_of(R"("model.a":")" + std::string(name) + "\""),
        "expected the plain name of a .safetensors file in the same folder"
    );
  }
}

TEST_F(ShardedTest, RefusesBadIndexFiles) {
  expect_index_refused("", std::string(kIndex) + " is empty");
  expect_index_refused("{", std::string(kIndex) + " is not valid JSON");
  expect_index_refused("[]", "has no \"weight_map\"");
  expect_index_refused("{}", "has no \"weight_map\"");
  expect_index_refused(R"({"weight_map":[]})", "has no \"weight_map\"");
  expect_index_refused(index_of(""), "names no tensor");
  expect_index_refused(
      index_of(R"("model.a":1)"), "gives 1 for tensor \"model.a\"; expected the name of a file"
  );
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.a":"b.safetensors")"), "names \"model.a\" twice"
  );
}

TEST_F(ShardedTest, NamesTheDamagedShard) {
  folder_.write("b.safetensors", "short");
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.b":"b.safetensors")"), b_ + " is 5 bytes long"
  );
  std::filesystem::remove(b_);
  std::filesystem::create_symlink("b.safetensors", b_);
  expect_index_refused(
      index_of(R"("model.a":"a.safetensors","model.b":"b.safetensors")"),
      b_ + " cannot be opened: its symbolic links form a loop"
  );
}

TEST_F(ShardedTest, ReadsAllFilesWhenThereIsNoIndex) {
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder_.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->num_tensors(), 2);
  folder_.write("c.safetensors", one_tensor("model.a"));
  expect_refused(
      folder_.path(),
      "tensor \"model.a\" lies both in " + a_ + " and in " + folder_.path() + "/c.safetensors"
  );
}

TEST_F(ShardedTest, PrefersTheSingleFileToLooseOnes) {
  folder_.write("model.safetensors", one_tensor("lm_head.weight"));
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder_.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->num_tensors(), 1);
  EXPECT_TRUE(checkpoint->find("lm_head.weight"));
}

TEST(CheckpointDir, SkipsHiddenFiles) {
  const TempFolder folder;
  folder.write("model.safetensors", one_tensor("model.a"));
  folder.write("._model.safetensors", "left by another system");
  EXPECT_TRUE(CheckpointDir::open(folder.path()));
}

TEST(CheckpointDir, TellsTheOriginalLayoutByItsNames) {
  const TempFolder folder;
  folder.write("model--00001-of-00002.safetensors", one_tensor("norm.scale"));
  folder.write("model--00002-of-00002.safetensors", one_tensor("block.0.attn.sinks"));
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->layout(), Layout::kOriginal);
}

TEST(CheckpointDir, LooksIntoTheOriginalSubfolder) {
  const TempFolder folder;
  folder.write("original/model.safetensors", one_tensor("embedding.weight"));
  folder.write("original/config.json", R"({"num_experts":2})");
  folder.write("tokenizer.json", "{}");
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->path(), folder.path());
  EXPECT_EQ(checkpoint->weights_path(), folder.path() + "/original");
  EXPECT_EQ(checkpoint->layout(), Layout::kOriginal);
  EXPECT_EQ(checkpoint->find_companion("tokenizer.json"), folder.path() + "/tokenizer.json");
  EXPECT_EQ(checkpoint->find_companion("chat_template.jinja"), std::nullopt);
  const Result<json::value> config = checkpoint->read_config();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->at("num_experts"), 2);
}

TEST(CheckpointDir, PrefersWeightsBesideTheOriginalSubfolder) {
  const TempFolder folder;
  folder.write("original/model.safetensors", one_tensor("embedding.weight"));
  folder.write("model.safetensors", one_tensor("model.a"));
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->layout(), Layout::kHuggingFace);
}

TEST(CheckpointDir, NamesAMissingConfig) {
  const TempFolder folder;
  folder.write("model.safetensors", one_tensor("model.a"));
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  const Result<json::value> config = checkpoint->read_config();
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, folder.path() + "/config.json does not exist");
}

TEST(CheckpointDir, SaysWhatIsThereInsteadOfWeights) {
  const TempFolder folder;
  expect_refused(folder.path() + "/missing", "/missing does not exist");
  expect_refused("", "does not exist");
  expect_refused(folder.path(), folder.path() + " is an empty folder; expected " + kIndex);
  const std::string config = folder.write("config.json", "{}");
  expect_refused(folder.path(), folder.path() + " holds no weights; expected " + kIndex);
  expect_refused(
      config, config + " is a file, and not a GGUF one; give a .gguf file, or the folder"
  );
  folder.write("pytorch_model.bin", "x");
  expect_refused(folder.path(), "in PyTorch's own format (pytorch_model.bin)");
  std::filesystem::create_symlink("loop", folder.path() + "/loop");
  expect_refused(folder.path() + "/loop", "its symbolic links form a loop");
  folder.write("model.safetensors", safetensors_bytes("{}", ""));
  expect_refused(folder.path(), "holds weight files, but no tensor in them");
  std::filesystem::remove(folder.path() + "/model.safetensors");
  folder.make_folder("model.safetensors");
  expect_refused(folder.path(), "/model.safetensors is a folder; expected a file");
}

}  // namespace
}  // namespace rapt
