#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q51, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q5_1", 7);
}

TEST(Q51, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("Q5_1", 7, 32, 24);
}

}  // namespace
}  // namespace rapt
