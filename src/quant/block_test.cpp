// Block formats: the reference against a definition written out here, and every CPU level and
// layout against the reference, bit by bit, in every mode.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/activation.h"
#include "quant/block/linear_internal.h"
#include "quant/mxfp4/block_format_internal.h"
#include "quant/mxfp4/format.h"
#include "quant/packed_input.h"
#include "quant/q8_0/block_format_internal.h"
#include "quant/q8_0/format.h"
#include "tensor/float_bits.h"

namespace rapt {
namespace {

enum class Layout { kMxfp4Pairs, kMxfp4Ollama, kMxfp4Gguf, kMxfp4GgufSplit, kQ80, kQ80Split };

constexpr Layout kLayouts[] = {
    Layout::kMxfp4Pairs,
    Layout::kMxfp4Ollama,
    Layout::kMxfp4Gguf,
    Layout::kMxfp4GgufSplit,
    Layout::kQ80,
    Layout::kQ80Split};

bool is_mxfp4(Layout layout) {
  return layout != Layout::kQ80 && layout != Layout::kQ80Split;
}

bool is_split(Layout layout) {
  return layout == Layout::kMxfp4GgufSplit || layout == Layout::kQ80Split;
}

// A layer with random weights, in one layout, and the integers and scales it was made of.
class Weights {
 public:
  Weights(
      Layout layout,
      std::int64_t num_matrices,
      std::int64_t out_features,
      std::int64_t in_features,
      bool has_bias
  )
      : num_matrices_(num_matrices), out_(out_features), blocks_(in_features / 32) {
    std::mt19937 generator(static_cast<unsigned>(out_features * 7 + in_features));
    const std::int64_t num_rows = num_matrices * out_;
    for (std::int64_t idx = 0; idx < num_rows * in_features; ++idx) {
      nibbles_.push_back(static_cast<std::uint8_t>(generator() & 15U));
      codes_.push_back(
          is_mxfp4(layout) ? kMxfp4DoubledCodes[nibbles_.back()]
                           : static_cast<std::int8_t>(generator())
      );
    }
    for (std::int64_t idx = 0; idx < num_rows * blocks_; ++idx) {
      if (is_mxfp4(layout)) {
        const auto byte = static_cast<std::uint8_t>(118 + generator() % 9);
        scale_bits_.push_back(idx % 50 == 7 ? static_cast<std::uint8_t>(idx % 3) : byte);
        scales_.push_back(std::ldexp(1.0F, scale_bits_.back() - 128));
      } else {
        scale_bits_.push_back(static_cast<std::uint16_t>(generator() % 0x3000U));
        scales_.push_back(f16_to_f32(scale_bits_.back()));
      }
    }
    if (has_bias) {
      std::normal_distribution<float> normal;
      for (std::int64_t idx = 0; idx < num_rows; ++idx) {
        bias_.push_back(normal(generator));
      }
    }
    make_linear(layout, in_features);
  }

  BlockLinear& linear() const { return *linear_; }

  // y[feature] for one packed row, as numerics says; `q` and `x_scales` are the row's.
  float expected(
      std::int64_t matrix,
      std::int64_t feature,
      const std::vector<int>& q,
      const std::vector<float>& x_scales
  ) const {
    const std::int64_t row = matrix * out_ + feature;
    float acc = 0.0F;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      std::int64_t dot = 0;
      for (std::int64_t idx = 0; idx < 32; ++idx) {
        dot += static_cast<std::int64_t>(
                   codes_[static_cast<std::size_t>((row * blocks_ + block) * 32 + idx)]
               ) *
               q[static_cast<std::size_t>(block * 32 + idx)];
      }
      const float w_scale = scales_[static_cast<std::size_t>(row * blocks_ + block)];
      const float scale = w_scale * x_scales[static_cast<std::size_t>(block)];
      acc = std::fma(static_cast<float>(dot), scale, acc);
    }
    return bias_.empty() ? acc : acc + bias_[static_cast<std::size_t>(row)];
  }

 private:
  // Appends block `block` of row `row`, without its scale when that lies apart.
  void append_block(Layout layout, std::int64_t row, std::int64_t block, std::string& to) const {
    const std::int64_t first = (row * blocks_ + block) * 32;
    const auto nibble = [&](std::int64_t idx) {
      return nibbles_[static_cast<std::size_t>(first + idx)];
    };
    const std::uint16_t scale = scale_bits_[static_cast<std::size_t>(row * blocks_ + block)];
    if (!is_mxfp4(layout)) {
      to.append(reinterpret_cast<const char*>(&scale), 2);
      to.append(reinterpret_cast<const char*>(&codes_[static_cast<std::size_t>(first)]), 32);
      return;
    }
    const bool pairs = layout == Layout::kMxfp4Pairs || layout == Layout::kMxfp4Ollama;
    if (layout != Layout::kMxfp4Pairs) {
      to.push_back(static_cast<char>(scale));
    }
    for (std::int64_t idx = 0; idx < 16; ++idx) {
      const unsigned low = nibble(pairs ? 2 * idx : idx);
      const unsigned high = nibble(pairs ? 2 * idx + 1 : idx + 16);
      to.push_back(static_cast<char>(low | high << 4U));
    }
  }

  void make_linear(Layout layout, std::int64_t in_features) {
    const std::int64_t num_parts = is_split(layout) ? 2 : 1;
    const bool pairs = layout == Layout::kMxfp4Pairs;
    const std::int64_t row_bytes = blocks_ * (is_mxfp4(layout) ? (pairs ? 16 : 17) : 34);
    const std::int64_t part_rows = out_ / num_parts;
    BlockTensors tensors;
    for (std::int64_t part = 0; part < num_parts; ++part) {
      for (std::int64_t row = part; row < num_matrices_ * out_; row += num_parts) {
        for (std::int64_t block = 0; block < blocks_; ++block) {
          append_block(layout, row, block, bytes_[part]);
        }
      }
    }
    for (const std::uint16_t bits : scale_bits_) {
      scale_bytes_.push_back(static_cast<char>(bits));
    }
    for (std::int64_t part = 0; part < num_parts; ++part) {
      const auto* data = reinterpret_cast<const std::uint8_t*>(bytes_[part].data());
      const std::int64_t codes_offset = pairs ? 0 : is_mxfp4(layout) ? 1 : kQ80CodesOffset;
      tensors.codes[part] = {data + codes_offset, row_bytes, part_rows * row_bytes};
      tensors.scales[part] = {data, row_bytes, part_rows * row_bytes};
      if (pairs) {
        const auto* scales = reinterpret_cast<const std::uint8_t*>(scale_bytes_.data());
        tensors.scales[part] = {scales, blocks_, part_rows * blocks_};
      }
    }
    LinearSpec spec;
    spec.in_features = in_features;
    spec.out_features = out_;
    spec.num_experts = num_matrices_;
    const BlockFormat format = pairs                            ? mxfp4_pairs_format()
                               : layout == Layout::kMxfp4Ollama ? mxfp4_ollama_format()
                               : is_mxfp4(layout)               ? mxfp4_gguf_format()
                                                                : q8_0_block_format();
    linear_ = std::make_unique<BlockLinear>(format, tensors, bias_, spec);
  }

  std::int64_t num_matrices_;
  std::int64_t out_;
  std::int64_t blocks_;
  std::vector<std::uint8_t> nibbles_;  // MXFP4
  std::vector<std::int8_t> codes_;
  std::vector<std::uint16_t> scale_bits_;
  std::vector<float> scales_;
  std::vector<float> bias_;
  std::string bytes_[2];
  std::string scale_bytes_;
  std::unique_ptr<BlockLinear> linear_;
};

std::vector<float> random_rows(std::int64_t count, std::int64_t size) {
  std::mt19937 generator(11);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count * size));
  for (float& value : values) {
    value = normal(generator);
  }
  for (std::size_t idx = 0; idx < 32; ++idx) {
    values[idx] = 0.0F;
  }
  // The largest magnitudes of both signs, whose codes stand at both ends.
  for (std::size_t idx = 32; idx < 64 && idx < values.size(); ++idx) {
    values[idx] = idx % 3 == 0 ? -2.5F : 2.5F;
  }
  return values;
}

// One experiment: rows, how they are shared out, and the memory of the packed rows.
struct Experiment {
  std::int64_t num_rows = 0;
  std::int64_t num_inputs = 0;
  std::vector<float> x;
  std::vector<std::int32_t> input_rows;
  std::vector<RowGroup> groups;
};

Experiment make_experiment(const BlockLinear& linear, std::int64_t num_rows) {
  Experiment run;
  run.num_rows = num_rows;
  run.num_inputs = num_rows / 2 + 1;
  run.x = random_rows(run.num_inputs, linear.in_features());
  for (std::int64_t row = 0; row < num_rows; ++row) {
    run.input_rows.push_back(static_cast<std::int32_t>(row * 5 % run.num_inputs));
  }
  std::int32_t first = 0;
  for (std::int64_t matrix = 0; matrix < linear.num_matrices(); ++matrix) {
    const auto left = static_cast<std::int32_t>(num_rows - first);
    const bool last = matrix + 1 == linear.num_matrices();
    const std::int32_t count = last ? left : matrix == 1 ? 0 : left / 3;
    run.groups.push_back({static_cast<std::int32_t>(matrix), first, count});
    first += count;
  }
  return run;
}

Workspace make_workspace(std::int64_t num_inputs) {
  return Workspace(*Buffer::allocate(static_cast<std::uint64_t>(num_inputs * 3 + 64), "test"));
}

std::vector<float> multiply(
    const BlockLinear& linear,
    CpuLevel level,
    ThreadPool& pool,
    LinearMode mode,
    Experiment& run,
    bool is_swiglu
) {
  const Stream stream = {&pool, level};
  Workspace workspace = make_workspace(run.num_inputs * linear.in_features());
  const Tensor x(run.x.data(), DType::kF32, Shape{run.num_inputs, linear.in_features()});
  const PackedInput input = pack_input(stream, workspace, x, mode);
  const std::int64_t width = linear.out_features() / (is_swiglu ? 2 : 1);
  std::vector<float> y(static_cast<std::size_t>(run.num_rows * width), -1.0F);
  const Tensor out(y.data(), DType::kF32, Shape{run.num_rows, width});
  if (is_swiglu) {
    linear.multiply_swiglu(stream, input, run.input_rows, run.groups, ClampedSwiglu{}, out);
  } else {
    linear.multiply(stream, input, run.input_rows, run.groups, out);
  }
  return y;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t idx = 0; idx < a.size(); ++idx) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a[idx]), std::bit_cast<std::uint32_t>(b[idx]))
        << "element " << idx << ": " << a[idx] << " and " << b[idx];
  }
}

// The prepared copy, its pieces written in descending order.
Buffer prepare(const BlockLinear& linear) {
  const std::int64_t bytes = linear.prepared_piece_bytes();
  Buffer buffer =
      *Buffer::allocate(static_cast<std::uint64_t>(linear.num_prepared_pieces() * bytes), "test");
  for (std::int64_t piece = linear.num_prepared_pieces() - 1; piece >= 0; --piece) {
    linear.write_prepared(piece, static_cast<std::byte*>(buffer.data()) + piece * bytes);
  }
  return buffer;
}

struct Case {
  std::int64_t num_matrices;
  std::int64_t out_features;
  std::int64_t in_features;
};

constexpr Case kCases[] = {
    {1, 2, 32}, {1, 30, 64}, {1, 32, 96}, {2, 34, 160}, {3, 62, 128}, {4, 96, 288}, {1, 34, 4256}};

void expect_equal_everywhere(Layout layout, const Case& c, bool has_bias) {
  Weights weights(layout, c.num_matrices, c.out_features, c.in_features, has_bias);
  BlockLinear& linear = weights.linear();
  const Buffer prepared = prepare(linear);
  ThreadPool one(1);
  ThreadPool three(3);
  for (const LinearMode mode : kLinearModes) {
    for (const std::int64_t num_rows : {1, 2, 3, 4, 5, 17, 70, 300}) {
      if (num_rows * c.in_features > 20000) {
        continue;
      }
      Experiment run = make_experiment(linear, num_rows);
      linear.use_prepared(nullptr);
      const auto expected = multiply(linear, CpuLevel::kReference, one, mode, run, false);
      std::vector<float> activated(expected.size() / 2);
      const auto half = static_cast<std::int64_t>(activated.size());
      clamped_swiglu_row(
          CpuLevel::kReference, expected.data(), ClampedSwiglu{}, half, activated.data()
      );
      expect_same_bits(activated, multiply(linear, CpuLevel::kReference, one, mode, run, true));
      for (const CpuLevel level : runnable_cpu_levels()) {
        SCOPED_TRACE(
            std::string(name_of(level)) + " " + std::string(name_of(mode)) + " layout " +
            std::to_string(static_cast<int>(layout)) + " out " + std::to_string(c.out_features) +
            " in " + std::to_string(c.in_features) + " rows " + std::to_string(num_rows)
        );
        for (const bool is_prepared : {false, true}) {
          linear.use_prepared(
              is_prepared ? static_cast<const std::byte*>(prepared.data()) : nullptr
          );
          expect_same_bits(expected, multiply(linear, level, one, mode, run, false));
          expect_same_bits(activated, multiply(linear, level, three, mode, run, true));
          if (::testing::Test::HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

TEST(BlockLinear, EveryLevelAndLayoutGivesTheBitsOfTheReference) {
  for (const Layout layout : kLayouts) {
    for (const Case& c : kCases) {
      expect_equal_everywhere(layout, c, c.out_features % 3 != 0);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST(BlockLinear, OddNumbersOfFeatures) {
  ThreadPool pool(2);
  for (const Layout layout : {Layout::kMxfp4Pairs, Layout::kMxfp4Gguf, Layout::kQ80}) {
    for (const std::int64_t out_features : {1, 31, 33, 65}) {
      const Weights weights(layout, 1, out_features, 64, true);
      for (const LinearMode mode : kLinearModes) {
        Experiment run = make_experiment(weights.linear(), 9);
        const auto expected =
            multiply(weights.linear(), CpuLevel::kReference, pool, mode, run, false);
        for (const CpuLevel level : runnable_cpu_levels()) {
          expect_same_bits(expected, multiply(weights.linear(), level, pool, mode, run, false));
        }
      }
    }
  }
}

TEST(BlockLinear, ReferenceIsTheDefinition) {
  ThreadPool pool(1);
  for (const Layout layout : kLayouts) {
    for (const LinearMode mode : {LinearMode::kI16, LinearMode::kI8}) {
      const Weights weights(layout, 2, 6, 96, true);
      Experiment run = make_experiment(weights.linear(), 5);
      const auto y = multiply(weights.linear(), CpuLevel::kReference, pool, mode, run, false);
      for (const RowGroup& group : run.groups) {
        for (std::int32_t row = group.first; row < group.first + group.count; ++row) {
          const float* x = run.x.data() + run.input_rows[static_cast<std::size_t>(row)] * 96;
          std::vector<int> q;
          std::vector<float> scales;
          const float limit = mode == LinearMode::kI16 ? 21845.0F : 127.0F;
          for (int block = 0; block < 3; ++block) {
            float max = 0.0F;
            for (int idx = 0; idx < 32; ++idx) {
              max = std::fmax(max, std::fabs(x[block * 32 + idx]));
            }
            const float factor = max == 0.0F ? 0.0F : limit / max;
            for (int idx = 0; idx < 32; ++idx) {
              q.push_back(static_cast<int>(std::nearbyint(x[block * 32 + idx] * factor)));
            }
            scales.push_back(max / limit);
          }
          for (std::int64_t feature = 0; feature < 6; ++feature) {
            ASSERT_EQ(
                y[static_cast<std::size_t>(row * 6 + feature)],
                weights.expected(group.matrix, feature, q, scales)
            );
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rapt
