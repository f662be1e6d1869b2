#pragma once

#include <string>
#include <string_view>

namespace rapt {

// `num_characters` letters and digits that depend on the seed and the call's index only.
std::string make_call_code(std::string_view seed, int call_idx, int num_characters);

// An id for a call as OpenAI's look: "call_" and 24 letters and digits.
std::string make_call_id(std::string_view seed, int call_idx);

}  // namespace rapt
