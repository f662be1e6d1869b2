#include "models/gpt_oss/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using LayerType = GptOssConfig::LayerType;
using Rope = GptOssConfig::Rope;

// The published config of the 20b, less its layer_types.
constexpr std::string_view kHuggingFace20b = R"({
  "architectures": ["GptOssForCausalLM"], "attention_bias": true, "attention_dropout": 0.0,
  "eos_token_id": 200002, "experts_per_token": 4, "head_dim": 64, "hidden_act": "silu",
  "hidden_size": 2880, "initial_context_length": 4096, "initializer_range": 0.02,
  "intermediate_size": 2880, "max_position_embeddings": 131072, "model_type": "gpt_oss",
  "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 24,
  "num_key_value_heads": 8, "num_local_experts": 32, "output_router_logits": false,
  "pad_token_id": 199999,
  "quantization_config": {"modules_to_not_convert": ["lm_head"], "quant_method": "mxfp4"},
  "rms_norm_eps": 1e-05,
  "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
    "original_max_position_embeddings": 4096, "rope_type": "yarn", "truncate": false},
  "rope_theta": 150000, "router_aux_loss_coef": 0.9, "sliding_window": 128, "swiglu_limit": 7.0,
  "tie_word_embeddings": false, "transformers_version": "4.55.0.dev0", "use_cache": true,
  "vocab_size": 201088})";

constexpr std::string_view kOriginal20b = R"({
  "num_hidden_layers": 24, "num_experts": 32, "experts_per_token": 4, "vocab_size": 201088,
  "hidden_size": 2880, "intermediate_size": 2880, "swiglu_limit": 7.0, "head_dim": 64,
  "num_attention_heads": 64, "num_key_value_heads": 8, "sliding_window": 128,
  "initial_context_length": 4096, "rope_theta": 150000, "rope_scaling_factor": 32.0,
  "rope_ntk_alpha": 1, "rope_ntk_beta": 32})";

constexpr std::string_view kTiny = R"({
  "model_type": "gpt_oss", "num_hidden_layers": 3, "hidden_size": 48, "intermediate_size": 32,
  "num_local_experts": 5, "num_experts_per_tok": 2, "num_attention_heads": 6,
  "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 300, "sliding_window": 8,
  "max_position_embeddings": 1024, "rope_theta": 10000.0})";

json::object parsed(std::string_view text) {
  return parse_json(text, "text")->as_object();
}

// `text` with the members of `changes` set; a member that is null is removed instead.
json::object changed(std::string_view text, std::string_view changes) {
  json::object object = parsed(text);
  for (const auto& member : parsed(changes)) {
    if (member.value().is_null()) {
      object.erase(member.key());
    } else {
      object[member.key()] = member.value();
    }
  }
  return object;
}

GptOssConfig config_of(json::object object) {
  const Result<GptOssConfig> config = parse_gpt_oss_config(std::move(object), "config.json");
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : GptOssConfig{};
}

void expect_refused(json::object object, std::string_view message) {
  const Result<GptOssConfig> config = parse_gpt_oss_config(std::move(object), "config.json");
  ASSERT_FALSE(config) << "accepted; expected: " << message;
  EXPECT_EQ(config.error().code, ErrorCode::kBadFile);
  EXPECT_THAT(config.error().message, HasSubstr("config.json"));
  EXPECT_THAT(config.error().message, HasSubstr(std::string(message)));
}

TEST(GptOssConfig, ReadsThePublishedConfig) {
  const GptOssConfig config = config_of(parsed(kHuggingFace20b));
  EXPECT_EQ(config.num_layers, 24);
  EXPECT_EQ(config.hidden_size, 2880);
  EXPECT_EQ(config.intermediate_size, 2880);
  EXPECT_EQ(config.num_experts, 32);
  EXPECT_EQ(config.experts_per_token, 4);
  EXPECT_EQ(config.num_heads, 64);
  EXPECT_EQ(config.num_kv_heads, 8);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.vocab_size, 201088);
  EXPECT_EQ(config.max_position_embeddings, 131072);
  EXPECT_EQ(config.sliding_window, 128);
  EXPECT_EQ(config.rms_norm_eps, 1e-5);
  EXPECT_EQ(config.swiglu_limit, 7.0);
  EXPECT_EQ(config.swiglu_alpha, 1.702);
  EXPECT_TRUE(config.attention_bias);
  EXPECT_EQ(config.pad_token_id, 199999);
  EXPECT_EQ(config.quant_method, GptOssConfig::QuantMethod::kMxfp4);
  EXPECT_THAT(config.ignored_fields, IsEmpty());
  Rope rope;
  rope.scaling = Rope::Scaling::kYarn;
  rope.factor = 32.0;
  rope.truncate = false;
  EXPECT_EQ(config.rope, rope) << "the other fields have their defaults";
}

TEST(GptOssConfig, ReadsTheOriginalConfigAsTheSameModel) {
  const GptOssConfig ours = config_of(parsed(kOriginal20b));
  const GptOssConfig theirs = config_of(parsed(kHuggingFace20b));
  EXPECT_EQ(ours.num_layers, theirs.num_layers);
  EXPECT_EQ(ours.layer_types, theirs.layer_types);
  EXPECT_EQ(ours.rope, theirs.rope);
  EXPECT_EQ(ours.max_position_embeddings, theirs.max_position_embeddings);
  EXPECT_EQ(ours.rms_norm_eps, theirs.rms_norm_eps);
  EXPECT_EQ(ours.sliding_window, theirs.sliding_window);
  EXPECT_EQ(ours.eos_token_ids, theirs.eos_token_ids);
  EXPECT_EQ(ours.quant_method, theirs.quant_method);
  EXPECT_EQ(num_parameters(ours), num_parameters(theirs));
  EXPECT_THAT(ours.ignored_fields, IsEmpty());
}

TEST(GptOssConfig, AlternatesLayersUnlessTheConfigListsThem) {
  const GptOssConfig alternating = config_of(parsed(kTiny));
  EXPECT_TRUE(alternating.is_sliding(0));
  EXPECT_FALSE(alternating.is_sliding(1));
  EXPECT_TRUE(alternating.is_sliding(2));
  const GptOssConfig listed = config_of(changed(
      kTiny, R"({"layer_types": ["full_attention", "full_attention", "sliding_attention"]})"
  ));
  EXPECT_THAT(
      listed.layer_types,
      ElementsAre(
          LayerType::kFullAttention, LayerType::kFullAttention, LayerType::kSlidingAttention
      )
  );
}

TEST(GptOssConfig, NeedsNoWindowWithoutSlidingLayers) {
  const GptOssConfig config = config_of(changed(
      kTiny,
      R"({"layer_types": ["full_attention", "full_attention", "full_attention"],
          "sliding_window": null})"
  ));
  EXPECT_EQ(config.sliding_window, 0);
}

TEST(GptOssConfig, KnowsTheOtherNamesOfFields) {
  const GptOssConfig config = config_of(changed(
      kTiny,
      R"({"num_local_experts": null, "num_experts": 5, "num_experts_per_tok": null,
          "experts_per_token": 2, "dtype": "bfloat16", "swiglu_alpha": 1.5})"
  ));
  EXPECT_EQ(config.num_experts, 5);
  EXPECT_EQ(config.experts_per_token, 2);
  EXPECT_EQ(config.swiglu_alpha, 1.5);
  EXPECT_THAT(config.ignored_fields, IsEmpty());
}

TEST(GptOssConfig, ReadsRopeInBothItsForms) {
  const GptOssConfig older = config_of(parsed(kHuggingFace20b));
  const GptOssConfig newer = config_of(changed(
      kHuggingFace20b,
      R"({"rope_scaling": null, "rope_theta": null,
          "rope_parameters": {"rope_theta": 150000.0, "rope_type": "yarn", "factor": 32.0,
            "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 4096,
            "truncate": false, "attention_factor": null, "partial_rotary_factor": 1.0}})"
  ));
  EXPECT_EQ(newer.rope, older.rope);
}

TEST(GptOssConfig, FillsInWhatYarnLeavesOut) {
  const Rope rope =
      config_of(changed(
                    kTiny,
                    R"({"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 256}})"
                ))
          .rope;
  EXPECT_EQ(rope.scaling, Rope::Scaling::kYarn);
  EXPECT_EQ(rope.theta, 10000.0);
  EXPECT_EQ(rope.factor, 4.0) << "1024 positions from 256";
  EXPECT_EQ(rope.beta_fast, 32.0);
  EXPECT_EQ(rope.beta_slow, 1.0);
  EXPECT_TRUE(rope.truncate) << "a missing truncate means true";
  EXPECT_EQ(rope.attention_factor, std::nullopt);
}

TEST(GptOssConfig, ReadsPlainRope) {
  EXPECT_EQ(config_of(parsed(kTiny)).rope.scaling, Rope::Scaling::kNone);
  const Rope rope =
      config_of(
          changed(
              kTiny,
              R"({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}, "rope_theta": null})"
          )
      )
          .rope;
  EXPECT_EQ(rope.scaling, Rope::Scaling::kNone);
  EXPECT_EQ(rope.theta, 500.0);
}

TEST(GptOssConfig, AlwaysStopsAtTheThreeEndsOfTheRealVocabulary) {
  const GptOssConfig config = config_of(parsed(kHuggingFace20b));
  EXPECT_THAT(config.eos_token_ids, ElementsAre(199999, 200002, 200012));
  const GptOssConfig without = config_of(changed(kHuggingFace20b, R"({"eos_token_id": null})"));
  EXPECT_THAT(without.eos_token_ids, ElementsAre(199999, 200002, 200012));
}

TEST(GptOssConfig, StopsWhereATinyVocabularySays) {
  EXPECT_THAT(config_of(parsed(kTiny)).eos_token_ids, IsEmpty());
  GptOssConfig config = config_of(changed(kTiny, R"({"eos_token_id": [7, 3, 7]})"));
  EXPECT_THAT(config.eos_token_ids, ElementsAre(3, 7));
  const json::value generation = parsed(R"({"do_sample": true, "eos_token_id": [5, 3]})");
  ASSERT_TRUE(add_generation_config(config, generation, "generation_config.json"));
  EXPECT_THAT(config.eos_token_ids, ElementsAre(3, 5, 7));
  ASSERT_TRUE(add_generation_config(config, parsed("{}"), "generation_config.json"));
  EXPECT_THAT(config.eos_token_ids, ElementsAre(3, 5, 7));
}

TEST(GptOssConfig, RefusesBadStopTokens) {
  for (const auto& [ids, complaint] :
       {std::pair("\"7\"", "expected a token id, or an array of token ids"),
        std::pair("[7, 300]", "names token 300, but the vocabulary has 300 tokens")}) {
    const std::string text = std::string(R"({"eos_token_id": )") + ids + "}";
    expect_refused(changed(kTiny, text), complaint);
    GptOssConfig config = config_of(parsed(kTiny));
    const Result<void> added = add_generation_config(config, parsed(text), "generation.json");
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message, HasSubstr("generation.json: \"eos_token_id\" "));
    EXPECT_THAT(added.error().message, HasSubstr(complaint));
  }
}

TEST(GptOssConfig, ListsFieldsItDoesNotKnow) {
  const GptOssConfig config =
      config_of(changed(kTiny, R"({"new_idea": 1, "use_cache": true, "other": [], "n": null})"));
  EXPECT_THAT(config.ignored_fields, ElementsAre("new_idea", "other"));
  const GptOssConfig original = config_of(changed(kOriginal20b, R"({"new_idea": 1})"));
  EXPECT_THAT(original.ignored_fields, ElementsAre("new_idea"));
}

TEST(GptOssConfig, RefusesEachMissingField) {
  for (const char* name :
       {"num_hidden_layers",
        "hidden_size",
        "intermediate_size",
        "num_local_experts",
        "num_experts_per_tok",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "vocab_size",
        "sliding_window",
        "max_position_embeddings"}) {
    json::object object = parsed(kTiny);
    object.erase(name);
    expect_refused(std::move(object), std::string("has no \"") + name + "\"");
  }
}

TEST(GptOssConfig, RefusesValuesThatMakeNoSense) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"num_hidden_layers": 0})", R"("num_hidden_layers" is 0; expected an integer from 1 to)"},
      {R"({"num_hidden_layers": 1e3})", R"("num_hidden_layers" is 1000; expected an integer)"},
      {R"({"hidden_size": -48})", R"("hidden_size" is -48; expected an integer from 1 to)"},
      {R"({"hidden_size": 1000000000000})", R"("hidden_size" is 1000000000000; expected)"},
      {R"({"intermediate_size": "32"})", R"("intermediate_size" is "32"; expected an integer)"},
      {R"({"vocab_size": [300]})", R"("vocab_size" is [300]; expected an integer)"},
      {R"({"num_experts_per_tok": 6})",
       R"("num_experts_per_tok" is 6; expected at most the number of experts, 5)"},
      {R"({"num_experts_per_tok": null, "experts_per_token": 6})",
       R"("experts_per_token" is 6; expected at most the number of experts, 5)"},
      {R"({"experts_per_token": 3})",
       R"("experts_per_token" is 3; its other name "num_experts_per_tok" says 2)"},
      {R"({"num_key_value_heads": 4})",
       R"("num_key_value_heads" is 4; expected a divisor of num_attention_heads, 6)"},
      {R"({"num_key_value_heads": 12})", R"("num_key_value_heads" is 12; expected a divisor)"},
      {R"({"head_dim": 15})", R"("head_dim" is 15; expected an even number)"},
      {R"({"layer_types": ["full_attention"]})",
       R"("layer_types" is ["full_attention"]; expected an array of num_hidden_layers = 3 names)"},
      {R"({"layer_types": ["full_attention", "full_attention", "chunked_attention"]})",
       R"(names, each "sliding_attention" or "full_attention")"},
      {R"({"layer_types": "full_attention"})", R"("layer_types" is "full_attention"; expected)"},
      {R"({"sliding_window": 0})", R"("sliding_window" is 0; expected an integer from 1)"},
      {R"({"rms_norm_eps": 0})", R"("rms_norm_eps" is 0; expected a number from)"},
      {R"({"rms_norm_eps": true})", R"("rms_norm_eps" is true; expected a number)"},
      {R"({"swiglu_limit": -7.0})", R"("swiglu_limit" is -7; expected a number from)"},
      {R"({"attention_bias": "yes"})", R"("attention_bias" is "yes"; expected true or false)"},
      {R"({"tie_word_embeddings": true})", R"("tie_word_embeddings" is true; expected false)"},
      {R"({"hidden_act": "gelu"})", R"("hidden_act" is "gelu"; expected "silu")"},
      {R"({"model_type": "llama"})", R"("model_type" is "llama"; expected "gpt_oss")"},
      {R"({"max_position_embeddings": 1e10})", R"("max_position_embeddings" is 1)"},
      {R"({"pad_token_id": "x"})", R"("pad_token_id" is "x"; expected an integer)"},
      {R"({"quantization_config": {"quant_method": "fp8"}})",
       R"("quantization_config": "quant_method" is "fp8"; expected "mxfp4")"},
      {R"({"quantization_config": []})", R"("quantization_config" is an array; expected an)"},
      {R"({"quantization_config": {}})", R"("quant_method" is missing; expected "mxfp4")"},
  };
  for (const auto& [changes, message] : cases) {
    expect_refused(changed(kTiny, changes), message);
  }
  expect_refused(changed(kOriginal20b, R"({"rope_ntk_beta": 0.5})"), R"("rope_ntk_beta" is 0.5;)");
  expect_refused(changed(kOriginal20b, R"({"head_dim": 0})"), R"("head_dim" is 0; expected)");
}

TEST(GptOssConfig, RefusesRopeItCannotHonour) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"rope_scaling": 32})", R"("rope_scaling" is an integer; expected an object)"},
      {R"({"rope_scaling": {"rope_type": "linear", "factor": 2.0}})",
       R"("rope_scaling": "rope_type" is "linear"; expected "yarn" or "default")"},
      {R"({"rope_scaling": {"type": "llama3"}})", R"("type" is "llama3"; expected "yarn")"},
      {R"({"rope_scaling": {"rope_type": "yarn", "factor": 2.0}})",
       R"("rope_scaling" has no "original_max_position_embeddings")"},
      {R"({"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 64,
                            "factor": 0.5}})",
       R"("factor" is 0.5; expected a number from 1)"},
      {R"({"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 64,
                            "beta_fast": 1, "beta_slow": 2}})",
       R"("beta_fast" is 1; expected at least beta_slow)"},
      {R"({"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 64,
                            "mscale": 0.7}})",
       R"("mscale" is 0.7; this setting of RoPE is not supported)"},
      {R"({"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 64,
                            "truncate": "no"}})",
       R"("truncate" is "no"; expected true or false)"},
      {R"({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}})",
       R"("partial_rotary_factor" is 0.5; expected 1)"},
      {R"({"rope_parameters": {"full_attention": {"rope_type": "default"}}})",
       R"(expected one RoPE for all layers)"},
      {R"({"rope_parameters": {"rope_type": "default", "rope_theta": 20000.0}})",
       R"("rope_theta" is 10000; the rope_theta in rope_parameters says otherwise)"},
      {R"({"rope_parameters": {"rope_type": "default"},
           "rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 64}})",
       "rope_parameters says otherwise"},
      {R"({"rope_theta": 1})", R"("rope_theta" is 1; expected a number from 2)"},
  };
  for (const auto& [changes, message] : cases) {
    expect_refused(changed(kTiny, changes), message);
  }
}

// Whatever a field holds: an error that names the file, or a config that the model can be built by.
TEST(GptOssConfig, SurvivesAnyValueInAnyField) {
  const json::array values =
      parse_json(
          R"([true, 0, 1, 2, -1, 64, 4096, 0.5, 1e300, -1e300, 9223372036854775807, "x", "yarn",
          18446744073709551615, [], [1], {}, {"rope_type": "yarn"}, {"quant_method": 4}])",
          "values"
      )
          ->as_array();
  int num_refused = 0;
  for (const std::string_view text : {kHuggingFace20b, kOriginal20b, kTiny}) {
    for (const auto& member : parsed(text)) {
      for (const json::value& value : values) {
        json::object object = parsed(text);
        object[member.key()] = value;
        const Result<GptOssConfig> config = parse_gpt_oss_config(object, "config.json");
        if (!config) {
          ++num_refused;
          EXPECT_THAT(config.error().message, HasSubstr("config.json"));
          continue;
        }
        EXPECT_EQ(config->layer_types.size(), static_cast<std::size_t>(config->num_layers));
        EXPECT_EQ(config->num_heads % config->num_kv_heads, 0);
        EXPECT_GT(num_parameters(*config), num_active_parameters(*config));
      }
    }
  }
  EXPECT_GT(num_refused, 300);
}

TEST(GptOssConfig, WantsAnObject) {
  const Result<GptOssConfig> config = parse_gpt_oss_config(json::array{}, "config.json");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "config.json is an array; expected an object");
}

// The figures of the model card and of public tensor listings.
TEST(GptOssConfig, CountsParameters) {
  const GptOssConfig small = config_of(parsed(kHuggingFace20b));
  EXPECT_EQ(num_parameters(small), 20'914'757'184);
  EXPECT_EQ(num_active_parameters(small), 3'608'307'264);
  const GptOssConfig large =
      config_of(changed(kHuggingFace20b, R"({"num_hidden_layers": 36, "num_local_experts": 128})"));
  EXPECT_EQ(num_parameters(large), 116'829'156'672);
  EXPECT_EQ(num_active_parameters(large), 5'132'849'472);
}

}  // namespace
}  // namespace rapt
