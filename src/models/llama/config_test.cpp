#include "models/llama/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "checkpoint/checkpoint_dir.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Scaling = LlamaConfig::Rope::Scaling;

// Llama 3.2 1B, with members replaced; null takes one away.
json::value config_with(const json::object& changes = {}) {
  json::object config = {
      {"architectures", {"LlamaForCausalLM"}},
      {"hidden_act", "silu"},
      {"hidden_size", 2048},
      {"intermediate_size", 8192},
      {"max_position_embeddings", 131072},
      {"num_attention_heads", 32},
      {"num_hidden_layers", 16},
      {"num_key_value_heads", 8},
      {"rms_norm_eps", 1e-05},
      {"rope_scaling",
       {{"factor", 32.0},
        {"high_freq_factor", 4.0},
        {"low_freq_factor", 1.0},
        {"original_max_position_embeddings", 8192},
        {"rope_type", "llama3"}}},
      {"rope_theta", 500000.0},
      {"tie_word_embeddings", true},
      {"eos_token_id", {128009, 128001}},
      {"vocab_size", 128256},
  };
  for (const auto& [key, value] : changes) {
    config[key] = value;
  }
  return config;
}

std::string error_of(const json::object& changes) {
  const Result<LlamaConfig> config = parse_llama_config(config_with(changes), "config.json");
  return config ? "no error" : config.error().message;
}

TEST(LlamaConfig, ReadsConfigJson) {
  const Result<LlamaConfig> config = parse_llama_config(config_with({{"odd", 1}}), "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->num_layers, 16);
  EXPECT_EQ(config->head_dim, 64) << "hidden size / heads";
  EXPECT_EQ(config->num_kv_heads, 8);
  EXPECT_TRUE(config->is_tied);
  EXPECT_EQ(config->rope.scaling, Scaling::kLlama3);
  EXPECT_EQ(config->rope.theta, 500000.0);
  EXPECT_EQ(config->rope.factor, 32.0);
  EXPECT_EQ(config->rope.original_max_position, 8192);
  EXPECT_THAT(config->eos_token_ids, ElementsAre(128001, 128009));
  EXPECT_THAT(config->ignored_fields, ElementsAre("odd"));
  EXPECT_EQ(num_parameters(*config), 1'235'814'400) << "as the model card says";
}

TEST(LlamaConfig, FillsInWhatOldConfigsLeaveOut) {
  const Result<LlamaConfig> config = parse_llama_config(
      config_with(
          {{"num_key_value_heads", nullptr},
           {"rope_scaling", nullptr},
           {"rope_theta", nullptr},
           {"tie_word_embeddings", nullptr},
           {"eos_token_id", 2}}
      ),
      "config.json"
  );
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->num_kv_heads, 32);
  EXPECT_EQ(config->rope.scaling, Scaling::kNone);
  EXPECT_EQ(config->rope.theta, 10000.0);
  EXPECT_FALSE(config->is_tied);
}

TEST(LlamaConfig, ReadsBothSpellingsOfRope) {
  const auto rope_of = [](const json::object& changes) {
    return parse_llama_config(config_with(changes), "config.json").value().rope;
  };
  const LlamaConfig::Rope older = rope_of({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}});
  EXPECT_EQ(older.scaling, Scaling::kLinear);
  EXPECT_EQ(older.factor, 2.0);
  EXPECT_EQ(older.theta, 500000.0);
  const LlamaConfig::Rope newer = rope_of(
      {{"rope_theta", nullptr},
       {"rope_scaling", nullptr},
       {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7.0}}}}
  );
  EXPECT_EQ(newer.scaling, Scaling::kNone);
  EXPECT_EQ(newer.theta, 7.0);
}

TEST(LlamaConfig, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(
      error_of({{"num_key_value_heads", 5}}), HasSubstr("a divisor of the number of query")
  );
  EXPECT_THAT(error_of({{"head_dim", 7}}), HasSubstr("an even number from 2 to 1024"));
  EXPECT_THAT(error_of({{"hidden_act", "gelu"}}), HasSubstr("\"hidden_act\" is \"gelu\""));
  EXPECT_THAT(error_of({{"sliding_window", 4096}}), HasSubstr("\"sliding_window\" is 4096"));
  EXPECT_THAT(error_of({{"eos_token_id", "x"}}), HasSubstr("expected a token id"));
  EXPECT_THAT(error_of({{"eos_token_id", 128256}}), HasSubstr("the vocabulary has 128256 tokens"));
  EXPECT_THAT(
      error_of({{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2}}}}),
      HasSubstr("\"rope_type\" is \"yarn\"; expected \"default\", \"linear\" or \"llama3\"")
  );
  EXPECT_THAT(
      error_of({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}, {"new", 1}}}}),
      HasSubstr("\"new\" is 1; this setting of RoPE is not supported")
  );
  EXPECT_THAT(error_of({{"quantization_config", {{"bits", 4}}}}), HasSubstr("plain weights"));
}

// A GGUF file of a model with two layers, with more values or tensors.
Result<LlamaConfig> parse_gguf(const std::function<void(GgufWriter&)>& more) {
  const TempFolder folder;
  GgufWriter writer;
  writer.add_text("general.architecture", "llama")
      .add_u32("llama.block_count", 2)
      .add_u32("llama.context_length", 4096)
      .add_u32("llama.embedding_length", 8)
      .add_u32("llama.feed_forward_length", 16)
      .add_u32("llama.attention.head_count", 2)
      .add_f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  more(writer);
  writer.add_tensor("token_embd.weight", kGgufF32, {5, 8}, std::string(160, 'x'));
  const Result<CheckpointDir> checkpoint =
      CheckpointDir::open(folder.write("m.gguf", writer.bytes()));
  CHECK(checkpoint.has_value(), checkpoint.error().message);
  return parse_llama_gguf(*checkpoint);
}

std::string gguf_error(const std::function<void(GgufWriter&)>& more) {
  const Result<LlamaConfig> config = parse_gguf(more);
  return config ? "no error" : config.error().message;
}

TEST(LlamaGgufConfig, ReadsMetadataAndTensors) {
  const Result<LlamaConfig> config = parse_gguf([](GgufWriter& writer) {
    writer.add_f32("llama.rope.freq_base", 100000.0F)
        .add_u32("tokenizer.ggml.eos_token_id", 2)
        .add_u32("tokenizer.ggml.eot_token_id", 4)
        .add_u32("llama.strange", 1);
  });
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->num_kv_heads, 2);
  EXPECT_EQ(config->head_dim, 4);
  EXPECT_EQ(config->vocab_size, 5);
  EXPECT_EQ(config->rms_norm_eps, 1e-5);
  EXPECT_TRUE(config->is_tied) << "there is no output.weight";
  EXPECT_EQ(config->rope.scaling, Scaling::kNone);
  EXPECT_EQ(config->rope.theta, 100000.0);
  EXPECT_THAT(config->eos_token_ids, ElementsAre(2, 4));
  EXPECT_THAT(config->ignored_fields, ElementsAre("llama.strange"));
}

TEST(LlamaGgufConfig, ReadsTheOldNameOfLinearScaling) {
  const Result<LlamaConfig> config =
      parse_gguf([](GgufWriter& writer) { writer.add_f32("llama.rope.scale_linear", 4.0F); });
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rope.scaling, Scaling::kLinear);
  EXPECT_EQ(config->rope.factor, 4.0);
}

TEST(LlamaGgufConfig, NamesTheKeyThatIsWrong) {
  EXPECT_THAT(
      gguf_error([](GgufWriter& writer) { writer.add_u32("llama.attention.sliding_window", 4096); }
      ),
      HasSubstr("sliding_window")
  );
  EXPECT_THAT(
      gguf_error([](GgufWriter& writer) { writer.add_u32("tokenizer.ggml.eos_token_id", 5); }),
      HasSubstr("\"tokenizer.ggml.eos_token_id\" names token 5, but the vocabulary has 5 tokens")
  );
  EXPECT_THAT(
      gguf_error([](GgufWriter& writer) { writer.add_u32("llama.expert_count", 8); }),
      HasSubstr("\"llama.expert_count\" is 8; expected a dense model")
  );
  EXPECT_THAT(
      gguf_error([](GgufWriter& writer) { writer.add_u32("llama.rope.dimension_count", 2); }),
      HasSubstr("expected the size of a head, 4")
  );
  EXPECT_THAT(
      gguf_error([](GgufWriter& writer) { writer.add_text("llama.rope.scaling.type", "yarn"); }),
      HasSubstr("is \"yarn\"; expected \"linear\" or \"none\"")
  );
}

}  // namespace
}  // namespace rapt
