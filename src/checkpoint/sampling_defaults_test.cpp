#include "checkpoint/sampling_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "checkpoint/checkpoint_dir.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::HasSubstr;

Result<SamplingDefaults> read_folder(const std::string& generation_config) {
  const TempFolder folder;
  folder.write("model.safetensors", safetensors_bytes({{"a", "U8", {2}, "ab"}}));
  folder.write("generation_config.json", generation_config);
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  return checkpoint ? read_sampling_defaults(*checkpoint) : checkpoint.error();
}

Result<SamplingDefaults> read_gguf(GgufWriter writer) {
  const TempFolder folder;
  writer.add_text("general.architecture", "llama");
  writer.add_tensor("a", kGgufF32, {1}, std::string(4, '\0'));
  const std::string path = folder.write("m.gguf", writer.bytes());
  const Result<CheckpointDir> checkpoint = CheckpointDir::open(path);
  return checkpoint ? read_sampling_defaults(*checkpoint) : checkpoint.error();
}

void expect_nothing(const Result<SamplingDefaults>& read) {
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(
      read->temperature || read->top_p || read->top_k || read->min_p || read->repetition_penalty
  );
}

TEST(SamplingDefaults, ReadsGenerationConfig) {
  const Result<SamplingDefaults> read = read_folder(
      R"({"do_sample":true,"eos_token_id":[1,2],"temperature":0.6,"top_p":0.9,"top_k":20,)"
      R"("min_p":0.05,"repetition_penalty":1.1})"
  );
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->temperature, 0.6F);
  EXPECT_EQ(read->top_p, 0.9F);
  EXPECT_EQ(read->top_k, 20);
  EXPECT_EQ(read->min_p, 0.05F);
  EXPECT_EQ(read->repetition_penalty, 1.1F);
}

TEST(SamplingDefaults, ReadsGguf) {
  GgufWriter writer;
  writer.add_f32("general.sampling.temp", 0.5F).add_f32("general.sampling.top_p", 1.0F);
  writer.add_u32("general.sampling.top_k", 40).add_f32("general.sampling.min_p", 0.0F);
  writer.add_f32("general.sampling.penalty_repeat", 1.5F);
  const Result<SamplingDefaults> read = read_gguf(writer);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->temperature, 0.5F);
  EXPECT_EQ(read->top_p, 1.0F);
  EXPECT_EQ(read->top_k, 40);
  EXPECT_EQ(read->min_p, 0.0F);
  EXPECT_EQ(read->repetition_penalty, 1.5F);
}

TEST(SamplingDefaults, LeavesOutWhatIsNotSaid) {
  expect_nothing(read_folder("{}"));
  expect_nothing(read_folder(R"({"do_sample":false,"temperature":null,"top_k":null})"));
  expect_nothing(read_gguf(GgufWriter()));
  const TempFolder folder;
  folder.write("model.safetensors", safetensors_bytes({{"a", "U8", {2}, "ab"}}));
  expect_nothing(read_sampling_defaults(CheckpointDir::open(folder.path()).value()));
}

TEST(SamplingDefaults, TakesEitherWordForAll) {
  EXPECT_EQ(read_folder(R"({"top_k":-1})")->top_k, 0);
  EXPECT_EQ(read_folder(R"({"top_k":0})")->top_k, 0);
}

TEST(SamplingDefaults, NamesWhatCannotBeUsed) {
  const auto error_of = [](const std::string& config) {
    const Result<SamplingDefaults> read = read_folder(config);
    return read ? "accepted" : read.error().message;
  };
  for (const std::string field :
       {"\"temperature\":-1",
        "\"temperature\":\"hot\"",
        "\"top_p\":0",
        "\"top_p\":1.5",
        "\"top_k\":-2",
        "\"top_k\":1.5",
        "\"min_p\":2",
        "\"repetition_penalty\":0"}) {
    const std::string name = field.substr(1, field.find(':') - 2);
    EXPECT_THAT(error_of("{" + field + "}"), HasSubstr("generation_config.json"));
    EXPECT_THAT(error_of("{" + field + "}"), HasSubstr("\"" + name + "\""));
  }
  EXPECT_THAT(error_of("[]"), HasSubstr("generation_config.json"));
  GgufWriter writer;
  writer.add_f32("general.sampling.temp", -0.5F);
  const Result<SamplingDefaults> read = read_gguf(writer);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("\"general.sampling.temp\""));
}

}  // namespace
}  // namespace rapt
