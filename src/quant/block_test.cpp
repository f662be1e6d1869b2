// Block formats: the reference against a definition written out here, and every CPU level and
// layout against the reference, bit by bit, in every mode. Each format's own test says what its
// blocks are.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/activation.h"
#include "quant/block/random_layer_internal.h"
#include "quant/packed_input.h"
#include "quant/registry_internal.h"

namespace rapt {
namespace {

// Of all formats.
std::vector<const BlockFormat*> all_layouts() {
  std::vector<const BlockFormat*> layouts;
  for (const WeightFormat& family : weight_formats()) {
    for (const BlockFormat& format : family.blocks) {
      layouts.push_back(&format);
    }
  }
  return layouts;
}

std::int64_t whole_blocks(const BlockFormat& format, std::int64_t in_features) {
  return (in_features + format.type.elements - 1) / format.type.elements * format.type.elements;
}

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

// For each of `row_counts` that is not too much work.
void expect_equal_everywhere(
    const BlockFormat& format,
    const Case& c,
    bool is_split,
    const std::vector<std::int64_t>& row_counts
) {
  const RandomLayer layer = *make_random_layer(
      format,
      {.num_matrices = c.num_matrices,
       .out_features = c.out_features,
       .in_features = whole_blocks(format, c.in_features),
       .is_split = is_split,
       .has_bias = c.out_features % 3 != 0}
  );
  BlockLinear& linear = *layer.linear;
  const Buffer prepared = prepare(linear);
  ThreadPool one(1);
  ThreadPool three(3);
  for (const LinearMode mode : kLinearModes) {
    for (const std::int64_t num_rows : row_counts) {
      // But for the longest, whose tiles take several passes, in all kinds of item.
      const bool is_tiled = num_rows == 17 && linear.in_features() > 4096 && !is_split;
      const bool is_short = linear.in_features() <= format.type.elements;
      if (num_rows * linear.in_features() > 20000 && !is_tiled && !is_short) {
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
            std::string(name_of(level)) + " " + std::string(name_of(mode)) + " " +
            std::string(format.layout_name) + (is_split ? " split" : "") + " out " +
            std::to_string(c.out_features) + " in " + std::to_string(c.in_features) + " rows " +
            std::to_string(num_rows)
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
  for (const BlockFormat* format : all_layouts()) {
    for (const Case& c : kCases) {
      for (const bool is_split : {false, true}) {
        if (is_split && !format->is_in_gguf) {
          continue;
        }
        expect_equal_everywhere(*format, c, is_split, {1, 2, 3, 4, 5, 17, 70, 300});
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(BlockLinear, EveryNumberOfRowsGivesTheBitsOfTheReference) {
  std::vector<std::int64_t> row_counts(17);
  std::iota(row_counts.begin(), row_counts.end(), 1);
  row_counts.insert(row_counts.end(), {64, 500});
  for (const BlockFormat* format : all_layouts()) {
    expect_equal_everywhere(*format, {1, 34, 32}, false, row_counts);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(BlockLinear, OddNumbersOfFeatures) {
  ThreadPool pool(2);
  for (const BlockFormat* format : all_layouts()) {
    for (const std::int64_t out_features : {1, 31, 33, 65}) {
      const std::int64_t in_features = whole_blocks(*format, 64);
      const RandomLayer layer = *make_random_layer(
          *format, {.out_features = out_features, .in_features = in_features, .has_bias = true}
      );
      for (const LinearMode mode : kLinearModes) {
        Experiment run = make_experiment(*layer.linear, 9);
        const auto expected = multiply(*layer.linear, CpuLevel::kReference, pool, mode, run, false);
        for (const CpuLevel level : runnable_cpu_levels()) {
          expect_same_bits(expected, multiply(*layer.linear, level, pool, mode, run, false));
        }
      }
    }
  }
}

// Both NaN, or the same bits.
void expect_same_but_for_nan(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t idx = 0; idx < a.size(); ++idx) {
    if (!std::isnan(a[idx]) || !std::isnan(b[idx])) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(a[idx]), std::bit_cast<std::uint32_t>(b[idx]))
          << "element " << idx << ": " << a[idx] << " and " << b[idx];
    }
  }
}

// Bytes of which scales become NaN, infinite, or anything.
void damage(std::uint8_t* bytes, std::int64_t count, int kind) {
  std::mt19937 generator(static_cast<unsigned>(kind));
  for (std::int64_t idx = 0; idx < count; ++idx) {
    const auto random = static_cast<std::uint8_t>(generator());
    const std::uint8_t inf = idx % 2 == 0 ? 0 : kind == 1 ? 0x7C : 0xFC;
    bytes[idx] = kind == 0 ? std::uint8_t{0xFF} : kind < 3 ? inf : random;
  }
}

TEST(BlockLinear, DamagedBlocksSpoilTheirRowsAlone) {
  constexpr std::int64_t kDamagedRow = 35;
  ThreadPool pool(2);
  for (const BlockFormat* format : all_layouts()) {
    for (int kind = 0; kind < 6; ++kind) {
      const std::int64_t in_features = whole_blocks(*format, 96);
      const RandomLayer layer =
          *make_random_layer(*format, {.out_features = 40, .in_features = in_features});
      BlockLinear& linear = *layer.linear;
      Experiment run = make_experiment(linear, 5);
      const auto sound = multiply(linear, CpuLevel::kReference, pool, LinearMode::kI8, run, false);
      const std::int64_t first = kDamagedRow * in_features / format->type.elements;
      auto* stored = static_cast<std::uint8_t*>(layer.stored.data());
      damage(stored + first * format->type.bytes, format->type.bytes, kind);
      if (layer.scales.data() != nullptr) {
        auto* scales = static_cast<std::uint8_t*>(layer.scales.data());
        damage(scales + first * format->layout.scales_bytes, format->layout.scales_bytes, kind);
      }
      const Buffer prepared = prepare(linear);
      for (const LinearMode mode : kLinearModes) {
        linear.use_prepared(nullptr);
        auto expected = multiply(linear, CpuLevel::kReference, pool, mode, run, false);
        for (const CpuLevel level : runnable_cpu_levels()) {
          for (const bool is_prepared : {false, true}) {
            linear.use_prepared(
                is_prepared ? static_cast<const std::byte*>(prepared.data()) : nullptr
            );
            expect_same_but_for_nan(expected, multiply(linear, level, pool, mode, run, false));
            ASSERT_FALSE(HasFatalFailure()) << format->layout_name << ", damage " << kind;
          }
        }
        if (mode != LinearMode::kI8) {
          continue;
        }
        for (std::size_t row = 0; row < 5; ++row) {
          EXPECT_TRUE(kind != 0 || std::isnan(expected[row * 40 + kDamagedRow]));
          expected[row * 40 + kDamagedRow] = sound[row * 40 + kDamagedRow];
        }
        expect_same_bits(expected, sound);
      }
    }
  }
}

// Exponents (of scales that are bytes of exponents) at the ends of what tiles of powers of two
// take.
template <int kLow, int kHigh>
void set_exponent(std::uint32_t random, std::uint8_t* scale) {
  const int spread = static_cast<int>(random >> 8U) % 3;
  const int exponent = random % 2 == 0 ? kLow + spread : kHigh - spread;
  *scale = static_cast<std::uint8_t>(exponent);
}

// Products with inputs of any magnitude must round as elsewhere, wherever the scales lie.
TEST(BlockLinear, ScalesAndInputsOfAnyMagnitude) {
  constexpr void (*kEnds[])(std::uint32_t, std::uint8_t*) = {

      set_exponent<109, 133>,
      set_exponent<109, 134>,
      set_exponent<106, 133>,
      set_exponent<110, 200>,
      set_exponent<100, 200>,
      set_exponent<0, 254>};
  ThreadPool pool(2);
  for (const BlockFormat* format : all_layouts()) {
    if (format->prepared_scales_bytes != 16) {  // not a byte a block
      continue;
    }
    for (const auto set_scales : kEnds) {
      BlockFormat changed = *format;
      changed.set_scales = set_scales;
      const RandomLayer layer =
          *make_random_layer(changed, {.out_features = 64, .in_features = 96});
      const Buffer prepared = prepare(*layer.linear);
      Experiment run = make_experiment(*layer.linear, 60);
      for (std::size_t idx = 0; idx < run.x.size(); ++idx) {
        constexpr int kExponents[] = {-101, -60, 0, 60, 126};
        const std::size_t row = idx / 96;
        run.x[idx] = std::ldexp(run.x[idx], kExponents[row % 5]);
        // With one input alone, many products are 0.
        run.x[idx] = row % 2 == 0 || idx % 32 == 7 ? run.x[idx] : 0.0F;
      }
      for (const LinearMode mode : {LinearMode::kI16, LinearMode::kI8}) {
        layer.linear->use_prepared(nullptr);
        const auto expected = multiply(*layer.linear, CpuLevel::kReference, pool, mode, run, false);
        for (const CpuLevel level : runnable_cpu_levels()) {
          for (const bool is_prepared : {false, true}) {
            layer.linear->use_prepared(
                is_prepared ? static_cast<const std::byte*>(prepared.data()) : nullptr
            );
            expect_same_but_for_nan(
                expected, multiply(*layer.linear, level, pool, mode, run, false)
            );
            ASSERT_FALSE(HasFatalFailure()) << format->layout_name << " " << name_of(level);
          }
        }
      }
    }
  }
}

// A row of packed input, as docs/NUMERICS.md says.
struct Quantised {
  std::vector<int> q;
  std::vector<float> scales;
};

Quantised quantise(const float* x, std::int64_t size, LinearMode mode) {
  Quantised row;
  const float limit = mode == LinearMode::kI16 ? 21845.0F : 127.0F;
  for (std::int64_t first = 0; first < size; first += 32) {
    float max = 0.0F;
    for (std::int64_t idx = 0; idx < 32; ++idx) {
      max = std::fmax(max, std::fabs(x[first + idx]));
    }
    const float factor = max == 0.0F ? 0.0F : limit / max;
    for (std::int64_t idx = 0; idx < 32; ++idx) {
      row.q.push_back(static_cast<int>(std::nearbyint(x[first + idx] * factor)));
    }
    row.scales.push_back(max / limit);
  }
  return row;
}

// The product of one row of weights, whose stored blocks are given, with one of input.
float definition(
    const BlockFormat& format,
    const std::uint8_t* codes,
    const std::uint8_t* scales,
    const Quantised& row
) {
  const BlockLayout& layout = format.layout;
  float acc = 0.0F;
  for (std::size_t block = 0; block < row.scales.size(); ++block) {
    const auto part = static_cast<std::int64_t>(block) % layout.num_parts;
    const auto stored = static_cast<std::int64_t>(block) / layout.num_parts;
    UnpackedBlock weights;
    layout.unpack(
        codes + stored * layout.codes_bytes, scales + stored * layout.scales_bytes, part, &weights
    );
    std::int64_t dots[2] = {};
    std::int64_t sum = 0;
    for (std::size_t idx = 0; idx < 32; ++idx) {
      const int q = row.q[block * 32 + idx];
      dots[layout.num_scales == 2 ? idx / 16 : 0] += std::int64_t{weights.codes[idx]} * q;
      sum += q;
    }
    const float x_scale = row.scales[block];
    acc = std::fma(static_cast<float>(dots[0]), weights.scales[0] * x_scale, acc);
    if (layout.num_scales == 2) {
      acc = std::fma(static_cast<float>(dots[1]), weights.scales[1] * x_scale, acc);
    }
    if (layout.has_min) {
      acc = std::fma(weights.min, x_scale * static_cast<float>(sum), acc);
    }
  }
  return acc;
}

TEST(BlockLinear, ReferenceIsTheDefinition) {
  ThreadPool pool(1);
  for (const BlockFormat* format : all_layouts()) {
    for (const LinearMode mode : {LinearMode::kI16, LinearMode::kI8}) {
      const std::int64_t in_features = whole_blocks(*format, 96);
      const RandomLayer layer = *make_random_layer(
          *format, {.num_matrices = 2, .out_features = 6, .in_features = in_features}
      );
      const auto* stored = static_cast<const std::uint8_t*>(layer.stored.data());
      const auto* own_scales = static_cast<const std::uint8_t*>(layer.scales.data());
      const std::int64_t row_blocks = in_features / format->type.elements;
      Experiment run = make_experiment(*layer.linear, 5);
      const auto y = multiply(*layer.linear, CpuLevel::kReference, pool, mode, run, false);
      for (const RowGroup& group : run.groups) {
        for (std::int32_t row = group.first; row < group.first + group.count; ++row) {
          const std::int32_t input = run.input_rows[static_cast<std::size_t>(row)];
          const Quantised quantised =
              quantise(run.x.data() + input * in_features, in_features, mode);
          for (std::int64_t feature = 0; feature < 6; ++feature) {
            const std::int64_t first = (group.matrix * 6 + feature) * row_blocks;
            const std::uint8_t* codes = stored + first * format->layout.codes_bytes;
            const std::uint8_t* scales =
                own_scales == nullptr ? codes : own_scales + first * format->layout.scales_bytes;
            ASSERT_EQ(
                y[static_cast<std::size_t>(row * 6 + feature)],
                definition(*format, codes + format->codes_offset, scales, quantised)
            ) << format->layout_name;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rapt
