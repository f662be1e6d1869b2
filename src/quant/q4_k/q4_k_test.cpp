#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q4K, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q4_K", 12);
}

TEST(Q4K, RowsAreWholeSuperBlocks) {
  testing::expect_whole_blocks("Q4_K", 12, 256, 144);
}

}  // namespace
}  // namespace rapt
