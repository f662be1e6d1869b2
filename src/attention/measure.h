#pragma once

#include <cstdint>
#include <memory>

#include "attention/backend.h"
#include "attention/select/attention_model.h"
#include "tensor/stream.h"

namespace rapt {

// One kind of attention call to time: `num_sequences` sequences with `num_before` positions in the
// cache compute `num_rows` more each.
struct AttentionLoad {
  AttentionModel model = {};  // its heads
  int window = 0;             // 0: a full layer
  DType kv_dtype = DType::kBF16;
  int block_size = 16;
  int num_sequences = 1;
  int num_before = 0;
  int num_rows = 1;

  // Of one call.
  double kv_bytes() const;  // K and V that some row sees, read once
  double flops() const;     // of the two products: 4 a row, head, visible key and dimension
};

// A load in memory, in several copies that take turns: between two calls of a layer a model reads
// gigabytes of weights, so K and V come from memory. Main thread.
class AttentionMeter {
 public:
  // Copies until K and V take `min_bytes` together (0: one copy, which small loads have in cache).
  AttentionMeter(
      const Stream& stream, const AttentionLoad& load, std::uint64_t min_bytes = kDefaultMinBytes
  );
  ~AttentionMeter();
  AttentionMeter(const AttentionMeter&) = delete;
  AttentionMeter& operator=(const AttentionMeter&) = delete;

  static constexpr std::uint64_t kDefaultMinBytes = std::uint64_t{256} << 20;

  // One call on every copy.
  void run(const Stream& stream, AttentionBackend& backend);

  int num_copies() const;

  // Wall seconds a call: the median over passes of run() that take `seconds` together, three at
  // least.
  double seconds_per_call(const Stream& stream, AttentionBackend& backend, double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rapt
