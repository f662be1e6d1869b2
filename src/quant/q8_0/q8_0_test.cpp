#include <gtest/gtest.h>

#include "support/block_vectors.h"

namespace rapt {
namespace {

TEST(Q80, DecodesWhatTheReferenceLibraryDoes) {
  testing::expect_reference_values("Q8_0", 8);
}

TEST(Q80, RowsAreWholeBlocks) {
  testing::expect_whole_blocks("Q8_0", 8, 32, 34);
}

}  // namespace
}  // namespace rapt
