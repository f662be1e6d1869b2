#include "base/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <fstream>
#include <string>

namespace rapt {

std::uint64_t parse_node_set(std::string_view text) {
  std::uint64_t nodes = 0;
  int num_digits = 0;
  for (const char c : text) {
    if (c == ',') {
      continue;  // between groups of eight digits
    }
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) {
      break;
    }
    nodes = (nodes << 4) | static_cast<std::uint64_t>(digit);
    ++num_digits;
  }
  return num_digits == 0 || nodes == 0 ? 1 : nodes;
}

std::uint64_t usable_memory_nodes() {
  constexpr std::string_view kField = "Mems_allowed:";
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(kField)) {
      const std::size_t begin = line.find_first_not_of(" \t", kField.size());
      const std::uint64_t allowed =
          begin == std::string::npos ? 1 : parse_node_set(std::string_view(line).substr(begin));
      // Allowed nodes need not exist.
      std::uint64_t existing = 0;
      for (int node = 0; node < 64; ++node) {
        const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
        if (((allowed >> node) & 1U) != 0 && ::access(folder.c_str(), F_OK) == 0) {
          existing |= std::uint64_t{1} << node;
        }
      }
      return existing == 0 ? 1 : existing;
    }
  }
  return 1;
}

int interleave_memory() {
  const std::uint64_t nodes = usable_memory_nodes();
  const int num_nodes = std::popcount(nodes);
  if (num_nodes <= 1) {
    return 1;
  }
  constexpr int kInterleave = 3;           // MPOL_INTERLEAVE
  constexpr unsigned long kMaskBits = 65;  // the system takes one bit less than it is told
  if (::syscall(SYS_set_mempolicy, kInterleave, &nodes, kMaskBits) != 0) {
    return 1;
  }
  return num_nodes;
}

}  // namespace rapt
