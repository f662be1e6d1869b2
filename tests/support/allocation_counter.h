#pragma once

#include <cstdint>

namespace rapt {

// How many times this process has asked operator new for memory. A test links
// tests/support/allocation_counter.cpp, which replaces operator new, and compares before and after.
std::uint64_t num_allocations();

}  // namespace rapt
