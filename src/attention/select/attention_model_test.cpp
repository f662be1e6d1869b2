#include "attention/select/attention_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapt {
namespace {

using testing::HasSubstr;

Result<AttentionModel> read(std::string_view config, std::string_view name = "models/some-model/") {
  return read_attention_model(*parse_json(config, "config.json"), name);
}

TEST(AttentionModel, HasPresets) {
  const AttentionModel model = find_attention_preset("openai/gpt-oss-20b").value();
  EXPECT_EQ(model.name, "gpt-oss-20b");
  EXPECT_EQ(
      describe(model), "24 layers (12 sliding w=128, 12 full), 64/8 heads x 64, sinks on all layers"
  );
  EXPECT_EQ(find_attention_preset("GPT-OSS-120B").value().num_layers(), 36);
  EXPECT_EQ(find_attention_preset("120b").value().gqa_ratio(), 8);
  EXPECT_EQ(
      describe(find_attention_preset("llama").value()), "32 layers, 32/8 heads x 128, no sinks"
  );
  EXPECT_FALSE(find_attention_preset("gpt-4").has_value());
  EXPECT_EQ(attention_preset_names().size(), 3U);
}

TEST(AttentionModel, ReadsGptOss) {
  const Result<AttentionModel> model = read(R"({
    "architectures": ["GptOssForCausalLM"], "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 2, "head_dim": 64, "sliding_window": 128, "max_position_embeddings": 4096,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]})"
  );
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "some-model");
  EXPECT_EQ(model->family, "gpt-oss");
  EXPECT_TRUE(model->has_sinks);
  EXPECT_EQ(model->num_sliding_layers, 2);
  EXPECT_EQ(model->num_layers(AttentionLayerKind::kFull), 2);
  EXPECT_EQ(model->window, 128);
  EXPECT_EQ(model->gqa_ratio(), 4);
  EXPECT_EQ(model->max_context, 4096);
}

TEST(AttentionModel, AlternatesGptOssLayersThatAreNotListed) {
  const Result<AttentionModel> model = read(R"({
    "architectures": ["GptOssForCausalLM"], "num_hidden_layers": 5, "num_attention_heads": 8,
    "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128})");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->num_sliding_layers, 3);
  EXPECT_EQ(model->num_full_layers, 2);
}

TEST(AttentionModel, ReadsOthers) {
  const Result<AttentionModel> llama = read(R"({
    "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 32,
    "hidden_size": 4096, "sliding_window": null})");
  ASSERT_TRUE(llama) << llama.error().message;
  EXPECT_EQ(llama->family, "Llama");
  EXPECT_EQ(llama->head_dim, 128);
  EXPECT_EQ(llama->gqa_ratio(), 1);
  EXPECT_EQ(llama->num_sliding_layers, 0);
  EXPECT_FALSE(llama->has_sinks);
  const Result<AttentionModel> qwen = read(R"({
    "architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 4,
    "head_dim": 64, "sliding_window": 4096, "use_sliding_window": false})");
  EXPECT_EQ(qwen->num_sliding_layers, 0);
  const Result<AttentionModel> mistral = read(R"({
    "architectures": ["MistralForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 4,
    "head_dim": 64, "sliding_window": 4096})");
  EXPECT_EQ(mistral->num_full_layers, 0);
  const Result<AttentionModel> deepseek = read(R"({
    "architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 4,
    "head_dim": 64, "kv_lora_rank": 512})");
  EXPECT_TRUE(deepseek->is_mla);
  EXPECT_THAT(describe(*deepseek), HasSubstr("multi-head latent attention"));
  const Result<AttentionModel> gemma = read(R"({
    "num_hidden_layers": 1, "num_attention_heads": 4, "head_dim": 256,
    "attn_logit_softcapping": 50.0})");
  EXPECT_TRUE(gemma->has_soft_cap);
  EXPECT_EQ(gemma->family, "some-model");
}

TEST(AttentionModel, SaysWhichFieldIsWrong) {
  EXPECT_THAT(read("[]").error().message, HasSubstr("expected an object"));
  EXPECT_THAT(read("{}").error().message, HasSubstr("has no num_hidden_layers"));
  EXPECT_THAT(
      read(R"({"num_hidden_layers": "2"})").error().message, HasSubstr("num_hidden_layers is \"2\"")
  );
  EXPECT_THAT(
      read(R"({"num_hidden_layers": 2, "layer_types": ["full_attention"]})").error().message,
      HasSubstr("must list all 2 layers")
  );
  EXPECT_THAT(
      read(R"({"num_hidden_layers": 1, "layer_types": ["mamba"]})").error().message,
      HasSubstr("layer_types holds \"mamba\"")
  );
  EXPECT_THAT(
      read(R"({"num_hidden_layers": 1, "layer_types": ["sliding_attention"]})").error().message,
      HasSubstr("no sliding_window")
  );
  EXPECT_THAT(
      read(R"({"num_hidden_layers": 1, "num_attention_heads": 6, "num_key_value_heads": 4})")
          .error()
          .message,
      HasSubstr("does not divide")
  );
  EXPECT_THAT(
      read(R"({"num_hidden_layers": 1, "num_attention_heads": 6})").error().message,
      HasSubstr("hidden_size")
  );
}

}  // namespace
}  // namespace rapt
