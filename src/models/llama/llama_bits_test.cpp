// Llama in an engine: the tests of engine/engine_bits_test.cpp on both layouts.

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine_bits_test_internal.h"
#include "quant/weight_format.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

using rapt::testing::GgufWriter;
using rapt::testing::WrittenTensor;

constexpr int kLayers = 2;
constexpr int kVocabulary = 61;
constexpr int kPositions = 256;
constexpr int kHeads = 4;
constexpr int kKVHeads = 2;

std::string bf16_bytes(std::mt19937& generator, std::int64_t count, float mean, float std) {
  std::normal_distribution<float> normal(mean, std);
  std::string data;
  for (std::int64_t idx = 0; idx < count; ++idx) {
    const std::uint16_t bits = f32_to_bf16(normal(generator));
    data += static_cast<char>(bits & 0xFF);
    data += static_cast<char>(bits >> 8);
  }
  return data;
}

// Hugging Face's layout in BF16, with a shared embedding.
std::string write_float_llama(const std::string& folder) {
  constexpr int kHidden = 64;
  constexpr int kIntermediate = 96;
  constexpr int kHeadDim = kHidden / kHeads;
  const json::value config = {
      {"architectures", {"LlamaForCausalLM"}},
      {"num_hidden_layers", kLayers},
      {"hidden_size", kHidden},
      {"intermediate_size", kIntermediate},
      {"num_attention_heads", kHeads},
      {"num_key_value_heads", kKVHeads},
      {"vocab_size", kVocabulary},
      {"max_position_embeddings", kPositions},
      {"rms_norm_eps", 1e-5},
      {"tie_word_embeddings", true},
      {"rope_theta", 10000},
  };
  rapt::testing::write_file(folder + "/config.json", to_json_text(config));
  std::mt19937 generator(1);
  std::vector<WrittenTensor> tensors;
  const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    tensors.push_back(
        {name + ".weight", "BF16", {rows, columns}, bf16_bytes(generator, rows * columns, 0, 0.2F)}
    );
  };
  const auto norm = [&](const std::string& name) {
    const std::string data = bf16_bytes(generator, kHidden, 1, 0.1F);
    tensors.push_back({name + ".weight", "BF16", {kHidden}, data});
  };
  matrix("model.embed_tokens", kVocabulary, kHidden);
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    norm(prefix + "input_layernorm");
    matrix(prefix + "self_attn.q_proj", kHidden, kHidden);
    matrix(prefix + "self_attn.k_proj", kKVHeads * kHeadDim, kHidden);
    matrix(prefix + "self_attn.v_proj", kKVHeads * kHeadDim, kHidden);
    matrix(prefix + "self_attn.o_proj", kHidden, kHidden);
    norm(prefix + "post_attention_layernorm");
    matrix(prefix + "mlp.gate_proj", kIntermediate, kHidden);
    matrix(prefix + "mlp.up_proj", kIntermediate, kHidden);
    matrix(prefix + "mlp.down_proj", kHidden, kIntermediate);
  }
  norm("model.norm");
  rapt::testing::write_file(
      folder + "/model.safetensors", rapt::testing::safetensors_bytes(tensors)
  );
  return folder;
}

// Any bytes whose pairs are small F16 numbers of either sign, wherever a format has its scales, and
// whose first is small also where it is an exponent.
std::string block_bytes(std::mt19937& generator, const BlockType& type, std::int64_t count) {
  std::uniform_int_distribution<int> uniform(0, 0x23);
  std::bernoulli_distribution is_negative;
  std::string data;
  for (std::int64_t idx = 0; idx < count / type.elements * type.bytes; ++idx) {
    const bool is_high = idx % type.bytes % 2 == 1;
    data += static_cast<char>(uniform(generator) | (is_high && is_negative(generator) ? 0x80 : 0));
  }
  return data;
}

// Q8_0: an F16 scale of 2^-7, then 32 codes of either sign.
std::string q8_bytes(std::mt19937& generator, std::int64_t count) {
  std::uniform_int_distribution<int> uniform(-128, 127);
  std::string data;
  for (std::int64_t idx = 0; idx < count; ++idx) {
    data += idx % 32 == 0 ? std::string("\x00\x20", 2) : "";
    data += static_cast<char>(uniform(generator));
  }
  return data;
}

// A GGUF file whose matrices take turns in all block types that Rapt knows.
std::string write_block_llama(const std::string& folder) {
  constexpr int kHidden = 256;
  constexpr int kIntermediate = 256;
  constexpr int kHeadDim = 64;
  const auto size = [](int value) { return static_cast<std::uint32_t>(value); };
  GgufWriter writer;
  writer.add_text("general.architecture", "llama")
      .add_u32("llama.block_count", kLayers)
      .add_u32("llama.context_length", kPositions)
      .add_u32("llama.embedding_length", kHidden)
      .add_u32("llama.feed_forward_length", kIntermediate)
      .add_u32("llama.attention.head_count", kHeads)
      .add_u32("llama.attention.head_count_kv", kKVHeads)
      .add_u32("llama.attention.key_length", size(kHeadDim))
      .add_u32("llama.attention.value_length", size(kHeadDim))
      .add_u32("llama.rope.dimension_count", size(kHeadDim))
      .add_f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  std::mt19937 generator(2);
  const std::span<const BlockType> types = known_block_types();
  std::size_t turn = 0;
  const auto matrix_of = [&](const BlockType& type, const std::string& name, int rows, int columns
                         ) {
    const std::string data = block_bytes(generator, type, std::int64_t{rows} * columns);
    writer.add_tensor(name + ".weight", type.gguf_id, {rows, columns}, data);
  };
  const auto matrix = [&](const std::string& name, int rows, int columns) {
    matrix_of(types[turn++ % types.size()], name, rows, columns);
  };
  const auto norm = [&](const std::string& name) {
    std::string data;
    for (int idx = 0; idx < kHidden; ++idx) {
      data += rapt::testing::gguf_number(0.5F + static_cast<float>(idx % 7) / 7);
    }
    writer.add_tensor(name + ".weight", rapt::testing::kGgufF32, {kHidden}, data);
  };
  for (const char* name : {"token_embd.weight", "output.weight"}) {
    const std::string data = q8_bytes(generator, std::int64_t{kVocabulary} * kHidden);
    writer.add_tensor(name, rapt::testing::kGgufQ8, {kVocabulary, kHidden}, data);
  }
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    norm(prefix + "attn_norm");
    matrix(prefix + "attn_q", kHeads * kHeadDim, kHidden);
    matrix(prefix + "attn_k", kKVHeads * kHeadDim, kHidden);
    matrix(prefix + "attn_v", kKVHeads * kHeadDim, kHidden);
    matrix(prefix + "attn_output", kHidden, kHeads * kHeadDim);
    norm(prefix + "ffn_norm");
    const BlockType& of_mlp = types[turn % types.size()];
    matrix_of(of_mlp, prefix + "ffn_gate", kIntermediate, kHidden);
    matrix_of(of_mlp, prefix + "ffn_up", kIntermediate, kHidden);
    matrix(prefix + "ffn_down", kHidden, kIntermediate);
  }
  norm("output_norm");
  const std::string path = folder + "/model.gguf";
  rapt::testing::write_file(path, writer.bytes());
  return path;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    LlamaFloats,
    EngineBits,
    ::testing::ValuesIn(bits_cases("llama_floats", write_float_llama)),
    name_of_bits_case
);
INSTANTIATE_TEST_SUITE_P(
    LlamaBlocks,
    EngineBits,
    ::testing::ValuesIn(bits_cases("llama_blocks", write_block_llama)),
    name_of_bits_case
);

}  // namespace rapt
