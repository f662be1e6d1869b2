#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "attention/cpu_flash/kernel_internal.h"
#include "attention/kv_reader_internal.h"

namespace rapt::flash {

namespace {

// 2^x for x <= 0 to a relative error of 2e-7; 0 below -126.5 and NaN for NaN.
float exp2_of(float x) {
  const float t = -127.0F > x ? -127.0F : x;
  // Adding 1.5 * 2^23 rounds to the nearest integer; 127 more makes its low bits 2^n's exponent.
  constexpr float kRound = 12582912.0F + 127.0F;
  const float rounded = t + kRound;
  const float f = t - (rounded - kRound);
  float p = kExp2[4];
  for (int k = 3; k >= 0; --k) {
    p = std::fma(p, f, kExp2[k]);
  }
  p = std::fma(p, f, 1.0F);
  return p * std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) << 23);
}

float max_of(float a, float b) {
  return a > b ? a : b;
}

// What is known of a row after some keys.
struct State {
  float max = kLowest;
  float sum = 0.0F;
  std::array<float, kMaxHeadDim> out{};
};

// One row's q and what it sees.
struct Row {
  std::array<float, kMaxHeadDim> q;
  std::int64_t first = 0;  // keys [first, end) are visible
  std::int64_t end = 0;
};

class Attending {
 public:
  explicit Attending(const Piece& piece)
      : piece_(piece),
        head_dim_(piece.layer->head_dim),
        kv_(*piece.layer, piece.kv_head, piece.block_table) {}

  Row row(std::int64_t idx) const {
    const std::int64_t token = idx / piece_.ratio;
    const float* q = piece_.q + token * piece_.token_stride + idx % piece_.ratio * head_dim_;
    const float scale =
        piece_.soft_cap > 0.0F ? piece_.scale / piece_.soft_cap : piece_.scale * kLog2e;
    Row row;
    for (std::int64_t d = 0; d < head_dim_; ++d) {
      row.q[static_cast<std::size_t>(d)] = q[d] * scale;
    }
    const std::int64_t position = piece_.first_position + token;
    row.first = first_visible(position, piece_.window);
    row.end = position + 1;
    return row;
  }

  State attend_split(const Row& row, std::int64_t split) const {
    State state;
    std::array<float, 16> sums{};
    for (std::int64_t tile = split * kSplit; tile < (split + 1) * kSplit; tile += kTile) {
      const std::int64_t first = std::max(tile, row.first);
      const std::int64_t end = std::min(tile + kTile, row.end);
      if (first < end) {
        attend_tile(row, first, end, state, sums);
      }
    }
    state.sum = joined(sums);
    return state;
  }

  void merge(const State& split, State& all) const {
    if (split.max == kLowest) {
      return;
    }
    const float max = max_of(all.max, split.max);
    const float a = exp2_of(all.max - max);
    const float b = exp2_of(split.max - max);
    all.max = max;
    all.sum = std::fma(b, split.sum, all.sum * a);
    for (std::size_t d = 0; d < static_cast<std::size_t>(head_dim_); ++d) {
      all.out[d] = std::fma(b, split.out[d], all.out[d] * a);
    }
  }

  void finish(std::int64_t idx, const State& all) const {
    const std::int64_t head = idx % piece_.ratio;
    float* out = piece_.out + idx / piece_.ratio * piece_.token_stride + head * head_dim_;
    float factor = 1.0F;
    float sum = all.sum;
    if (piece_.sinks != nullptr) {
      const float sink = piece_.sinks[head] * kLog2e;
      const float max = max_of(all.max, sink);
      factor = exp2_of(all.max - max);
      sum = std::fma(all.sum, factor, exp2_of(sink - max));
    }
    for (std::int64_t d = 0; d < head_dim_; ++d) {
      const float value = all.out[static_cast<std::size_t>(d)] * factor;
      out[d] = sum == 0.0F ? 0.0F : value / sum;
    }
  }

  float* partial(std::int64_t split) const {
    const std::int64_t num_rows = piece_.num_tokens * piece_.ratio;
    return piece_.partials + (split - piece_.first_split) * partial_floats(num_rows, head_dim_);
  }

  void save(std::int64_t idx, std::int64_t split, const State& state) const {
    const std::int64_t num_rows = piece_.num_tokens * piece_.ratio;
    float* to = partial(split);
    to[idx] = state.max;
    to[num_rows + idx] = state.sum;
    std::copy_n(state.out.begin(), head_dim_, to + 2 * num_rows + idx * head_dim_);
  }

  State load(std::int64_t idx, std::int64_t split) const {
    const std::int64_t num_rows = piece_.num_tokens * piece_.ratio;
    const float* from = partial(split);
    State state;
    state.max = from[idx];
    state.sum = from[num_rows + idx];
    std::copy_n(from + 2 * num_rows + idx * head_dim_, head_dim_, state.out.begin());
    return state;
  }

 private:
  static float joined(std::array<float, 16> sums) {
    for (std::size_t half = 8; half >= 1; half /= 2) {
      for (std::size_t idx = 0; idx < half; ++idx) {
        sums[idx] += sums[idx + half];
      }
    }
    return sums[0];
  }

  float score(const Row& row, const float* key) const {
    float score = 0.0F;
    for (std::int64_t d = 0; d < head_dim_; ++d) {
      score = std::fma(row.q[static_cast<std::size_t>(d)], key[d], score);
    }
    if (piece_.soft_cap > 0.0F) {
      const float e = exp2_of(max_of(score, 0.0F - score) * (-2.0F * kLog2e));
      const float t = (1.0F - e) / (1.0F + e);
      score = (score < 0.0F ? 0.0F - t : t) * (piece_.soft_cap * kLog2e);
    }
    return score;
  }

  void attend_tile(
      const Row& row,
      std::int64_t first,
      std::int64_t end,
      State& state,
      std::array<float, 16>& sums
  ) const {
    std::array<float, kMaxHeadDim> element;
    std::array<float, kTile> weights;
    const auto weight = [&](std::int64_t j) -> float& {
      return weights[static_cast<std::size_t>(j - first)];
    };
    float max = state.max;
    for (std::int64_t j = first; j < end; ++j) {
      kv_.read_k(j, element.data());
      weight(j) = score(row, element.data());
      max = max_of(max, weight(j));
    }
    const float a = exp2_of(state.max - max);
    state.max = max;
    for (float& sum : sums) {
      sum *= a;
    }
    for (float& value : state.out) {
      value *= a;
    }
    for (std::int64_t j = first; j < end; ++j) {
      weight(j) = exp2_of(weight(j) - max);
      sums[static_cast<std::size_t>(j % 16)] += weight(j);
      kv_.read_v(j, element.data());
      for (std::size_t d = 0; d < static_cast<std::size_t>(head_dim_); ++d) {
        state.out[d] = std::fma(weight(j), element[d], state.out[d]);
      }
    }
  }

  const Piece& piece_;
  std::int64_t head_dim_;
  KVReader kv_;
};

void attend(const Piece& piece) {
  const Attending attending(piece);
  for (std::int64_t idx = 0; idx < piece.num_tokens * piece.ratio; ++idx) {
    const Row row = attending.row(idx);
    State all;
    for (std::int64_t split = piece.first_split; split < piece.end_split; ++split) {
      const State state = attending.attend_split(row, split);
      if (piece.partials != nullptr) {
        attending.save(idx, split, state);
      } else {
        attending.merge(state, all);
      }
    }
    if (piece.partials == nullptr) {
      attending.finish(idx, all);
    }
  }
}

void merge(const Piece& piece) {
  const Attending attending(piece);
  for (std::int64_t idx = 0; idx < piece.num_tokens * piece.ratio; ++idx) {
    State all;
    for (std::int64_t split = piece.first_split; split < piece.end_split; ++split) {
      attending.merge(attending.load(idx, split), all);
    }
    attending.finish(idx, all);
  }
}

}  // namespace

const Kernels kRefKernels = {.attend = attend, .merge = merge};

}  // namespace rapt::flash
