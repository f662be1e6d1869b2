#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_dir.h"
#include "models/gpt_oss/config.h"
#include "models/gpt_oss/weight_names_internal.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::gguf_number;
using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using LayerType = GptOssConfig::LayerType;

// Metadata as gpt-oss-20b's file has them, in either dialect, with changes.
struct Metadata {
  std::string prefix = "gpt-oss.";
  std::vector<std::pair<std::string, std::uint32_t>> integers = {
      {"block_count", 4},
      {"context_length", 131072},
      {"embedding_length", 2880},
      {"feed_forward_length", 2880},
      {"expert_count", 32},
      {"expert_used_count", 4},
      {"attention.head_count", 64},
      {"attention.head_count_kv", 8},
      {"attention.key_length", 64},
      {"attention.value_length", 64},
      {"attention.sliding_window", 128},
      {"rope.scaling.original_context_length", 4096},
  };
  std::function<void(GgufWriter&)> more = [](GgufWriter&) {};
  std::int64_t vocab_size = 201088;
  std::vector<std::string> tensors = {"blk.0.attn_q.bias"};

  void set(const std::string& key, std::uint32_t value) {
    for (auto& [name, current] : integers) {
      if (name == key) {
        current = value;
      }
    }
  }
};

// The embedding's data would be large: no element type that the reader knows has none.
constexpr std::uint32_t kUnknownType = 99;

CheckpointDir open_file(const TempFolder& folder, const Metadata& metadata) {
  GgufWriter writer;
  writer.add_text("general.architecture", metadata.prefix.substr(0, metadata.prefix.size() - 1));
  for (const auto& [key, value] : metadata.integers) {
    writer.add_u32(metadata.prefix + key, value);
  }
  writer.add_f32(metadata.prefix + "attention.layer_norm_rms_epsilon", 1e-5F);
  writer.add_f32(metadata.prefix + "rope.freq_base", 150000.0F);
  writer.add_f32(metadata.prefix + "rope.scaling.factor", 32.0F);
  metadata.more(writer);
  writer.add_tensor("token_embd.weight", kUnknownType, {metadata.vocab_size, 2880}, "");
  for (const std::string& name : metadata.tensors) {
    writer.add_tensor(name, kGgufF32, {1}, "abcd");
  }
  Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.write("m.gguf", writer.bytes()));
  CHECK(checkpoint.has_value(), checkpoint.error().message);
  return std::move(*checkpoint);
}

GptOssConfig parse(const Metadata& metadata) {
  const TempFolder folder;
  Result<GptOssConfig> config = parse_gpt_oss_gguf(open_file(folder, metadata));
  CHECK(config.has_value(), config.error().message);
  return *config;
}

std::string error_of(const Metadata& metadata) {
  const TempFolder folder;
  const Result<GptOssConfig> config = parse_gpt_oss_gguf(open_file(folder, metadata));
  return config ? "no error" : config.error().message;
}

TEST(GptOssGgufConfig, ReadsWhatLlamaCppWrites) {
  Metadata metadata;
  metadata.more = [](GgufWriter& writer) {
    writer.add_u32("gpt-oss.expert_feed_forward_length", 1440)
        .add_text("gpt-oss.rope.scaling.type", "yarn")
        .add_u32("tokenizer.ggml.eos_token_id", 200002)
        .add_u32("tokenizer.ggml.padding_token_id", 199999)
        .add_u32("gpt-oss.strange", 1);
  };
  const GptOssConfig config = parse(metadata);
  EXPECT_EQ(config.num_layers, 4);
  EXPECT_EQ(config.hidden_size, 2880);
  EXPECT_EQ(config.intermediate_size, 1440) << "that of the experts";
  EXPECT_EQ(config.num_experts, 32);
  EXPECT_EQ(config.experts_per_token, 4);
  EXPECT_EQ(config.num_heads, 64);
  EXPECT_EQ(config.num_kv_heads, 8);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.vocab_size, 201088);
  EXPECT_EQ(config.max_position_embeddings, 131072);
  EXPECT_EQ(config.sliding_window, 128);
  EXPECT_THAT(
      config.layer_types,
      ElementsAre(
          LayerType::kSlidingAttention,
          LayerType::kFullAttention,
          LayerType::kSlidingAttention,
          LayerType::kFullAttention
      )
  );
  EXPECT_EQ(static_cast<float>(config.rms_norm_eps), 1e-5F);
  EXPECT_EQ(config.swiglu_limit, 7.0);
  EXPECT_EQ(config.swiglu_alpha, 1.702);
  EXPECT_TRUE(config.attention_bias);
  EXPECT_EQ(config.rope.scaling, GptOssConfig::Rope::Scaling::kYarn);
  EXPECT_EQ(config.rope.theta, 150000.0);
  EXPECT_EQ(config.rope.factor, 32.0);
  EXPECT_EQ(config.rope.beta_fast, 32.0);
  EXPECT_EQ(config.rope.beta_slow, 1.0);
  EXPECT_EQ(config.rope.original_max_position, 4096);
  EXPECT_FALSE(config.rope.truncate) << "no key says so";
  EXPECT_THAT(config.eos_token_ids, ElementsAre(199999, 200002, 200012));
  EXPECT_EQ(config.pad_token_id, 199999);
  EXPECT_THAT(config.ignored_fields, ElementsAre("gpt-oss.strange"));
}

TEST(GptOssGgufConfig, ReadsWhatOllamaWrites) {
  Metadata metadata;
  metadata.prefix = "gptoss.";
  metadata.vocab_size = 300;
  metadata.tensors = {"blk.0.attn_qkv.bias"};
  metadata.more = [](GgufWriter& writer) {
    writer.add_u32("tokenizer.ggml.eos_token_id", 17)
        .add_i32s("tokenizer.ggml.eos_token_ids", {17, 299, -1});
  };
  const GptOssConfig config = parse(metadata);
  EXPECT_EQ(config.intermediate_size, 2880);
  EXPECT_EQ(config.rope.scaling, GptOssConfig::Rope::Scaling::kYarn) << "though not named";
  EXPECT_TRUE(config.attention_bias);
  EXPECT_THAT(config.eos_token_ids, ElementsAre(17, 299));
}

TEST(GptOssGgufConfig, FollowsAPatternThatTheFileGives) {
  Metadata metadata;
  metadata.more = [](GgufWriter& writer) {
    writer.add_u32("gpt-oss.attention.sliding_window_pattern", 4);
  };
  EXPECT_THAT(
      parse(metadata).layer_types,
      ElementsAre(
          LayerType::kSlidingAttention,
          LayerType::kSlidingAttention,
          LayerType::kSlidingAttention,
          LayerType::kFullAttention
      )
  );
  const auto with_kinds = [](const std::string& kinds) {
    Metadata other;
    other.more = [kinds](GgufWriter& writer) {
      writer.add_value(
          "gpt-oss.attention.sliding_window_pattern",
          9,
          gguf_number(std::uint32_t{7}) + gguf_number(std::uint64_t{kinds.size()}) + kinds
      );
    };
    return other;
  };
  EXPECT_THAT(
      parse(with_kinds(std::string("\0\1\1\0", 4))).layer_types,
      ElementsAre(
          LayerType::kFullAttention,
          LayerType::kSlidingAttention,
          LayerType::kSlidingAttention,
          LayerType::kFullAttention
      )
  );
  EXPECT_THAT(
      error_of(with_kinds(std::string("\1\1", 2))),
      HasSubstr("expected one truth value a layer, of which there are 4")
  );
}

TEST(GptOssGgufConfig, NamesTheKeyThatIsWrong) {
  const auto with = [](const std::string& key, std::uint32_t value) {
    Metadata metadata;
    metadata.set(key, value);
    return error_of(metadata);
  };
  EXPECT_THAT(
      with("block_count", 0),
      HasSubstr("m.gguf: \"gpt-oss.block_count\" is 0; expected an integer from 1 to 1024")
  );
  EXPECT_THAT(with("expert_used_count", 33), HasSubstr("is 33; expected an integer from 1 to 32"));
  EXPECT_THAT(
      with("attention.head_count_kv", 7), HasSubstr("a divisor of attention.head_count, 64")
  );
  EXPECT_THAT(
      with("attention.value_length", 32),
      HasSubstr("value_length\" is 32; expected as much as attention.key_length, 64")
  );
  Metadata missing;
  missing.integers.erase(missing.integers.begin());
  EXPECT_THAT(
      error_of(missing), HasSubstr("m.gguf has no \"gpt-oss.block_count\", which is needed")
  );
  Metadata linear;
  linear.more = [](GgufWriter& writer) { writer.add_text("gpt-oss.rope.scaling.type", "linear"); };
  EXPECT_THAT(error_of(linear), HasSubstr("is \"linear\"; expected \"yarn\" or \"none\""));
  Metadata scaled;
  scaled.more = [](GgufWriter& writer) {
    writer.add_f32("gpt-oss.rope.scaling.attn_factor", 0.5F);
  };
  EXPECT_THAT(error_of(scaled), HasSubstr("attn_factor\" is 0.5; expected 1"));
  Metadata end;
  end.more = [](GgufWriter& writer) { writer.add_text("tokenizer.ggml.eos_token_id", "</s>"); };
  EXPECT_THAT(error_of(end), HasSubstr("eos_token_id\" is a string; expected an integer"));
  end.more = [](GgufWriter& writer) { writer.add_u32("tokenizer.ggml.eot_token_id", 201088); };
  EXPECT_THAT(error_of(end), HasSubstr("the vocabulary has 201088 tokens"));
}

TEST(GptOssGgufNames, FollowTheDialectOfTheFile) {
  const TempFolder folder;
  Metadata metadata;
  metadata.tensors = {
      "blk.0.attn_q.weight",
      "blk.0.attn_output.weight",
      "blk.0.attn_sinks.weight",
      "blk.0.post_attention_norm.weight",
      "blk.1.attn_qkv.weight",
      "blk.1.attn_out.weight",
      "blk.1.attn_sinks",
      "blk.1.ffn_norm.weight",
      "blk.1.ffn_gate_up_exps.weight",
  };
  const CheckpointDir checkpoint = open_file(folder, metadata);
  const Result<GptOssConfig> config = parse_gpt_oss_gguf(checkpoint);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->attention_bias);
  const std::unique_ptr<GptOssNames> names = gpt_oss_names(checkpoint, *config);
  EXPECT_EQ(names->query(0).dense, "blk.0.attn_q.weight");
  EXPECT_EQ(names->query(0).stored_rows, 0);
  EXPECT_EQ(names->query(0).bias, "");
  EXPECT_EQ(names->attention_out(0).dense, "blk.0.attn_output.weight");
  EXPECT_EQ(names->sinks(0), "blk.0.attn_sinks.weight");
  EXPECT_EQ(names->moe_norm(0), "blk.0.post_attention_norm.weight");
  EXPECT_EQ(names->gate_up(0).dense, "blk.0.ffn_gate_exps.weight");
  EXPECT_EQ(names->gate_up(0).second, "blk.0.ffn_up_exps.weight");
  EXPECT_EQ(names->gate_up(0).second_bias, "blk.0.ffn_up_exps.bias");
  EXPECT_EQ(names->gate_up(0).out_features, 5760);

  EXPECT_EQ(names->value(1).dense, "blk.1.attn_qkv.weight");
  EXPECT_EQ(names->value(1).first_row, 72 * 64);
  EXPECT_EQ(names->value(1).out_features, 8 * 64);
  EXPECT_EQ(names->value(1).stored_rows, 80 * 64);
  EXPECT_EQ(names->attention_out(1).dense, "blk.1.attn_out.weight");
  EXPECT_EQ(names->sinks(1), "blk.1.attn_sinks");
  EXPECT_EQ(names->moe_norm(1), "blk.1.ffn_norm.weight");
  EXPECT_EQ(names->gate_up(1).dense, "blk.1.ffn_gate_up_exps.weight");
  EXPECT_EQ(names->gate_up(1).second, "");

  EXPECT_EQ(names->sinks(2), "blk.2.attn_sinks.weight") << "what a missing tensor is called";
}

}  // namespace
}  // namespace rapt
