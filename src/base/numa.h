#pragma once

#include <cstdint>
#include <string_view>

namespace rapt {

// The memory nodes that this process may use, one bit each; the lowest 64. Reads
// /proc/self/status; 1 (one node) where that says nothing.
std::uint64_t usable_memory_nodes();

// The set in the form of /proc/self/status, "00000000,00000003"; 1 when it cannot be read.
std::uint64_t parse_node_set(std::string_view text);

// On a machine with several memory nodes: spreads the pages that the calling thread, and threads it
// starts from now on, touch first evenly over the nodes, so that all cores reach all weights and
// keys at the mean speed, wherever they run. Returns the number of nodes; 1: nothing was changed.
int interleave_memory();

}  // namespace rapt
