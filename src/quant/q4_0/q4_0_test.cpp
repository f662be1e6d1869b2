#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q40, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q4_0", 2);
}

TEST(Q40, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("Q4_0", 2, 32, 18);
}

}  // namespace
}  // namespace rapt
