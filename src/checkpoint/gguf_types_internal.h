#pragma once

#include <cstdint>
#include <string>

namespace rapt {

// How GGUF files call an element type, for messages: "Q4_K", or "type 99" when it has no name here.
std::string gguf_type_name(std::uint32_t id);

}  // namespace rapt
