#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q41, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q4_1", 3);
}

TEST(Q41, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("Q4_1", 3, 32, 20);
}

}  // namespace
}  // namespace rapt
