// The list of models and how a checkpoint finds its own in it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "models/architecture_internal.h"
#include "models/model.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::GgufWriter;
using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::HasSubstr;

TEST(Registry, EveryEntryIsWholeAndItsNameIsItsOwn) {
  std::set<std::string_view> names;
  int num_original = 0;
  for (const auto& model : architectures_of_models()) {
    EXPECT_FALSE(model.empty());
    for (const ArchitectureEntry& entry : model) {
      EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
      EXPECT_NE(entry.load, nullptr) << entry.name;
      EXPECT_NE(entry.attention_of_json, nullptr) << entry.name;
      EXPECT_NE(entry.attention_of_gguf, nullptr) << entry.name;
      num_original += entry.is_original_layout ? 1 : 0;
    }
  }
  EXPECT_LE(num_original, 1);
  EXPECT_TRUE(names.contains("GptOssForCausalLM"));
}

// A GGUF file of that architecture, and nothing of use in it.
std::string gguf_of(std::string_view architecture) {
  return GgufWriter()
      .add_text("general.architecture", architecture)
      .add_tensor("odd", rapt::testing::kGgufF32, {1}, "1234")
      .bytes();
}

TEST(Registry, SaysWhichArchitecturesItKnows) {
  const TempFolder folder;
  const auto of_gguf = load_model(folder.write("m.gguf", gguf_of("gptneox")));
  ASSERT_FALSE(of_gguf);
  EXPECT_THAT(of_gguf.error().message, HasSubstr("\"gptneox\", which Rapt does not know"));
  EXPECT_THAT(of_gguf.error().message, HasSubstr("it knows gpt-oss"));

  const TempFolder other;
  other.write("config.json", R"({"architectures": ["OtherForCausalLM"]})");
  other.write("model.safetensors", safetensors_bytes({{"odd", "F32", {1}, "1234"}}));
  const auto of_json = load_model(other.path());
  ASSERT_FALSE(of_json);
  EXPECT_THAT(of_json.error().message, HasSubstr("\"OtherForCausalLM\", which Rapt"));
  EXPECT_THAT(of_json.error().message, HasSubstr("it knows GptOssForCausalLM"));
}

TEST(Registry, TakesEveryNameOfAnArchitecture) {
  for (const char* name : {"gpt-oss", "gptoss"}) {
    const TempFolder folder;
    const auto model = load_model(folder.write("m.gguf", gguf_of(name)));
    ASSERT_FALSE(model) << "it holds no weights";
    EXPECT_THAT(model.error().message, ::testing::Not(HasSubstr("does not know"))) << name;
  }
}

}  // namespace
}  // namespace rapt
