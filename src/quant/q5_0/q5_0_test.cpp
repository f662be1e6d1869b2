#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q50, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q5_0", 6);
}

TEST(Q50, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("Q5_0", 6, 32, 22);
}

}  // namespace
}  // namespace rapt
