#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/kv_reader_internal.h"
#include "attention/testing/example/backend_internal.h"

namespace rapt {

namespace {

class ExampleBackend : public AttentionBackend {
 public:
  std::string_view name() const override { return "example"; }

  // What info.cpp says; the selector has asked there already.
  bool supports(const AttentionSpec& spec) const override { return spec.soft_cap == 0.0F; }

  void run(
      const Stream&,
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const AttentionMetadata& metadata,
      std::span<const std::int32_t> sequences,
      Tensor q,
      Tensor out
  ) override {
    for (const std::int32_t sequence_idx : sequences) {
      const SequenceRows& rows = metadata.sequences[static_cast<std::size_t>(sequence_idx)];
      for (std::int32_t row = 0; row < rows.num_rows; ++row) {
        for (std::int64_t head = 0; head < spec.num_heads; ++head) {
          const std::int64_t offset =
              ((rows.first_row + row) * spec.num_heads + head) * spec.head_dim;
          attend(spec, layer, rows, row, head, q.f32() + offset, out.f32() + offset);
        }
      }
    }
  }

 private:
  static void attend(
      const AttentionSpec& spec,
      const KVLayerView& layer,
      const SequenceRows& rows,
      std::int32_t row,
      std::int64_t head,
      const float* q,  // [head_dim]
      float* out       // [head_dim]
  ) {
    const auto head_dim = static_cast<std::size_t>(spec.head_dim);
    const std::int64_t kv_head = head / (spec.num_heads / spec.num_kv_heads);
    const std::int32_t* table = rows.block_tables[static_cast<std::size_t>(spec.group_idx)].data();
    const KVReader kv(layer, kv_head, table);
    const std::int64_t position = rows.first_position + row;
    const std::int64_t first =
        spec.window > 0 ? std::max<std::int64_t>(position - spec.window + 1, 0) : 0;

    // The sink is a score without a value: it takes part in the maximum and in the sum.
    const float* sink = spec.sinks.of_head(head);
    double max_score = sink != nullptr ? *sink : -std::numeric_limits<double>::infinity();
    std::vector<float> key(head_dim);
    std::vector<double> scores;
    for (std::int64_t j = first; j <= position; ++j) {
      kv.read_k(j, key.data());
      double dot = 0.0;
      for (std::size_t d = 0; d < head_dim; ++d) {
        dot += static_cast<double>(q[d]) * key[d];
      }
      scores.push_back(dot * spec.scale);
      max_score = std::max(max_score, scores.back());
    }
    double sum = sink != nullptr ? std::exp(*sink - max_score) : 0.0;
    std::vector<double> values(head_dim);
    for (std::int64_t j = first; j <= position; ++j) {
      const double weight = std::exp(scores[static_cast<std::size_t>(j - first)] - max_score);
      kv.read_v(j, key.data());
      sum += weight;
      for (std::size_t d = 0; d < head_dim; ++d) {
        values[d] += weight * key[d];
      }
    }
    for (std::size_t d = 0; d < head_dim; ++d) {
      out[d] = static_cast<float>(values[d] / sum);
    }
  }
};

}  // namespace

std::unique_ptr<AttentionBackend> make_example_backend() {
  return std::make_unique<ExampleBackend>();
}

}  // namespace rapt
