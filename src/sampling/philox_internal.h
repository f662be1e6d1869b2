#pragma once

#include <array>
#include <cstdint>

namespace rapt {

// Philox4x32-10, a random function rather than a generator: a key and a counter give 128 bits that
// look independent of those of any other pair, so a draw needs no state and no order. After
// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr int kNumRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // the golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
  for (int round = 0; round < kNumRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {
        static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
        static_cast<std::uint32_t>(product1),
        static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
        static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

// The number in [0, 1) that decides the token at `position` of a choice: 53 random bits.
constexpr double uniform_draw(std::uint64_t seed, int choice, int position) {
  const PhiloxCounter bits = philox4x32(
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(choice), 0, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}
  );
  const std::uint64_t joined = (static_cast<std::uint64_t>(bits[0]) << 32) | bits[1];
  return static_cast<double>(joined >> 11) * 0x1.0p-53;
}

}  // namespace rapt
