#include "checkpoint/hf_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kModel[] = "openai/gpt-oss-20b";

TEST(HfHubFolder, FollowsTheOrderOfTheVariables) {
  HfCacheEnv env;
  EXPECT_EQ(hf_hub_folder(env), "");
  env.home = "/people/u";
  EXPECT_EQ(hf_hub_folder(env), "/people/u/.cache/huggingface/hub");
  env.xdg_cache_home = "/xdg";
  EXPECT_EQ(hf_hub_folder(env), "/xdg/huggingface/hub");
  env.hf_home = "~/hf";
  EXPECT_EQ(hf_hub_folder(env), "/people/u/hf/hub");
  env.hf_hub_cache = "/hub";
  EXPECT_EQ(hf_hub_folder(env), "/hub");
}

// A cache with the folders of one model; the test fills in the rest.
class ResolveModelPathTest : public ::testing::Test {
 protected:
  void expect_refused(const std::string& model, const std::string& message) {
    const Result<std::string> path = resolve_model_path(model, env_);
    ASSERT_FALSE(path) << *path;
    EXPECT_THAT(path.error().message, HasSubstr(message));
  }

  TempFolder folder_;
  HfCacheEnv env_{.hf_hub_cache = folder_.path(), .hf_home = "", .xdg_cache_home = "", .home = ""};
  std::string cached_ = folder_.path() + "/models--openai--gpt-oss-20b";
};

TEST_F(ResolveModelPathTest, LeavesPathsThatExistAlone) {
  EXPECT_EQ(*resolve_model_path(folder_.path(), env_), folder_.path());
  const std::string file = folder_.write("model.gguf", "x");
  EXPECT_EQ(*resolve_model_path(file, {}), file);
  // A loop of links is there too; opening it will say what is wrong.
  std::filesystem::create_symlink("loop", folder_.path() + "/loop");
  EXPECT_TRUE(resolve_model_path(folder_.path() + "/loop", env_));
}

TEST_F(ResolveModelPathTest, TakesTheSnapshotThatMainNames) {
  folder_.write("models--openai--gpt-oss-20b/refs/main", "abc123\n");
  folder_.write("models--openai--gpt-oss-20b/snapshots/abc123/model.safetensors", "x");
  folder_.write("models--openai--gpt-oss-20b/snapshots/older/model.safetensors", "x");
  const Result<std::string> path = resolve_model_path(kModel, env_);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, cached_ + "/snapshots/abc123");
}

TEST_F(ResolveModelPathTest, TakesTheOnlySnapshotWhenThereIsNoRef) {
  folder_.write("models--openai--gpt-oss-20b/snapshots/abc/original/m.safetensors", "x");
  const Result<std::string> path = resolve_model_path(kModel, env_);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, cached_ + "/snapshots/abc");
  folder_.write("models--openai--gpt-oss-20b/snapshots/def/model.safetensors", "x");
  expect_refused(kModel, cached_ + " has no refs/main and 2 snapshots");
}

TEST_F(ResolveModelPathTest, FindsNamesWithoutAnOwner) {
  folder_.write("models--tiny/refs/main", "1");
  folder_.write("models--tiny/snapshots/1/model.safetensors.index.json", "{}");
  EXPECT_EQ(*resolve_model_path("tiny", env_), folder_.path() + "/models--tiny/snapshots/1");
}

TEST_F(ResolveModelPathTest, SaysWhereItLookedAndHowToGetTheModel) {
  const Result<std::string> path = resolve_model_path(kModel, env_);
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(
      path.error().message,
      AllOf(
          HasSubstr("openai/gpt-oss-20b is neither a folder nor in the Hugging Face cache"),
          HasSubstr("looked for " + cached_),
          HasSubstr("hf download openai/gpt-oss-20b")
      )
  );
}

TEST_F(ResolveModelPathTest, SaysThatADownloadIsNotComplete) {
  folder_.write("models--openai--gpt-oss-20b/refs/main", "abc");
  expect_refused(kModel, "without its weights: the download is not complete");
  folder_.write("models--openai--gpt-oss-20b/snapshots/abc/config.json", "{}");
  expect_refused(kModel, "without its weights: the download is not complete");
  std::filesystem::remove_all(cached_);
  folder_.make_folder("models--openai--gpt-oss-20b/blobs");
  expect_refused(kModel, "hf download openai/gpt-oss-20b");
}

TEST_F(ResolveModelPathTest, TakesASnapshotWithoutWeightsWhereNoneAreNeeded) {
  folder_.write("models--openai--gpt-oss-20b/refs/main", "abc");
  EXPECT_FALSE(resolve_model_path(kModel, env_, false)) << "there is no snapshot at all";
  folder_.write("models--openai--gpt-oss-20b/snapshots/abc/tokenizer.json", "{}");
  EXPECT_EQ(*resolve_model_path(kModel, env_, false), cached_ + "/snapshots/abc");
}

TEST_F(ResolveModelPathTest, RefusesRefsThatAreNoCommit) {
  for (const char* ref : {"../../elsewhere", "a/b", "\n", "a b"}) {
    folder_.write("models--openai--gpt-oss-20b/refs/main", ref);
    expect_refused(kModel, "/refs/main does not hold a commit");
  }
}

TEST_F(ResolveModelPathTest, DoesNotTakePathsForNames) {
  for (const char* path :
       {"/no/such/folder",
        "./missing",
        "../missing",
        "a/b/c",
        "a/",
        "~/m",
        "a b",
        "a--b",
        "a/../b"}) {
    expect_refused(path, std::string(path) + " does not exist; give a folder");
  }
  expect_refused("", "no model was named");
}

TEST_F(ResolveModelPathTest, SaysThatThereIsNoCacheToLookIn) {
  env_ = {};
  expect_refused(kModel, "none of HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME is set");
}

}  // namespace
}  // namespace rapt
