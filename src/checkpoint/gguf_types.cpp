#include <array>
#include <string_view>

#include "checkpoint/gguf_types_internal.h"

namespace rapt {

namespace {

// By id; "" for numbers that are no longer or were never in use.
constexpr std::array<std::string_view, 40> kNames = {
    "F32",    "F16",   "Q4_0",  "Q4_1",   "",      "",      "Q5_0",    "Q5_1",   "Q8_0",    "Q8_1",
    "Q2_K",   "Q3_K",  "Q4_K",  "Q5_K",   "Q6_K",  "Q8_K",  "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S",
    "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",    "I16",   "I32",     "I64",    "F64",     "IQ1_M",
    "BF16",   "",      "",      "",       "TQ1_0", "TQ2_0", "",        "",       "",        "MXFP4",
};

}  // namespace

std::string gguf_type_name(std::uint32_t id) {
  if (id < kNames.size() && !kNames[id].empty()) {
    return std::string(kNames[id]);
  }
  return "type " + std::to_string(id);
}

}  // namespace rapt
