#include "attention/measure.h"

#include <gtest/gtest.h>

#include "attention/registry.h"

namespace rapt {
namespace {

AttentionLoad load_of(int window, int num_before, int num_rows) {
  AttentionLoad load;
  load.model = *find_attention_preset("gpt-oss-20b");  // 64 / 8 heads of 64
  load.window = window;
  load.num_before = num_before;
  load.num_rows = num_rows;
  return load;
}

TEST(AttentionLoad, CountsBytesAndOperations) {
  // A key takes 2 * 8 * 64 * 2 bytes, a row and key 4 * 64 * 64 operations.
  EXPECT_EQ(load_of(0, 1023, 1).kv_bytes(), 1024 * 2048.0);
  EXPECT_EQ(load_of(0, 1023, 1).flops(), 1024 * 16384.0);
  EXPECT_EQ(load_of(0, 2, 2).flops(), (3 + 4) * 16384.0);
  EXPECT_EQ(load_of(128, 1023, 1).kv_bytes(), 128 * 2048.0);
  EXPECT_EQ(load_of(128, 1023, 1).flops(), 128 * 16384.0);
  EXPECT_EQ(load_of(128, 126, 2).flops(), (127 + 128) * 16384.0);
  // Two rows see one key more than one.
  EXPECT_EQ(load_of(128, 1023, 2).kv_bytes(), 129 * 2048.0);
  AttentionLoad narrow = load_of(0, 1023, 1);
  narrow.kv_dtype = DType::kF8E4M3;
  narrow.num_sequences = 3;
  EXPECT_EQ(narrow.kv_bytes(), 3 * 1024 * 1024.0);
}

TEST(AttentionMeter, MakesEnoughCopiesAndRunsThem) {
  ThreadPool pool(2);
  const Stream stream{&pool, best_cpu_level()};
  const auto backend = find_attention_backend("cpu-flash")->make({2, 4096});
  AttentionMeter many(stream, load_of(0, 63, 1), 10 * 64 * 2048);
  EXPECT_EQ(many.num_copies(), 10);
  AttentionMeter one(stream, load_of(0, 63, 1), 0);
  EXPECT_EQ(one.num_copies(), 1);
  EXPECT_GT(many.seconds_per_call(stream, *backend, 0.0), 0.0);
}

}  // namespace
}  // namespace rapt
