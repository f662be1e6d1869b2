#include <cstdint>

#include "text/chat/call_id_internal.h"

namespace rapt {

// FNV-1a of the seed, then splitmix64.
std::string make_call_code(std::string_view seed, int call_idx, int num_characters) {
  constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint64_t state = 0xCBF29CE484222325ULL;
  for (const char c : seed) {
    state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  state += static_cast<std::uint64_t>(call_idx) << 32;
  std::string code;
  for (int i = 0; i < num_characters; ++i) {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    code += kAlphabet[(mixed ^ (mixed >> 31)) % kAlphabet.size()];
  }
  return code;
}

std::string make_call_id(std::string_view seed, int call_idx) {
  constexpr int kNumCharacters = 24;
  return "call_" + make_call_code(seed, call_idx, kNumCharacters);
}

}  // namespace rapt
