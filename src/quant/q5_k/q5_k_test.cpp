#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q5K, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q5_K", 13);
}

TEST(Q5K, RowsAreWholeSuperBlocks) {
  testing::expect_whole_blocks("Q5_K", 13, 256, 176);
}

}  // namespace
}  // namespace rapt
