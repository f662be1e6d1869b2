#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q6K, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q6_K", 14);
}

TEST(Q6K, RowsAreWholeSuperBlocks) {
  testing::expect_whole_blocks("Q6_K", 14, 256, 210);
}

}  // namespace
}  // namespace rapt
