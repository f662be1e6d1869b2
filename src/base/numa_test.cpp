#include "base/numa.h"

#include <gtest/gtest.h>

namespace rapt {
namespace {

TEST(Numa, ReadsSetsOfNodes) {
  EXPECT_EQ(parse_node_set("1"), 1U);
  EXPECT_EQ(parse_node_set("00000000,00000003"), 3U);
  EXPECT_EQ(parse_node_set("00000001,80000000"), 0x180000000U);
  EXPECT_EQ(parse_node_set("f"), 15U);
  EXPECT_EQ(parse_node_set("3\n"), 3U);
}

TEST(Numa, WhatCannotBeReadIsOneNode) {
  EXPECT_EQ(parse_node_set(""), 1U);
  EXPECT_EQ(parse_node_set("x"), 1U);
  EXPECT_EQ(parse_node_set("0"), 1U);
}

TEST(Numa, ThisMachineHasANode) {
  EXPECT_NE(usable_memory_nodes(), 0U);
  EXPECT_GE(interleave_memory(), 1);
}

}  // namespace
}  // namespace rapt
