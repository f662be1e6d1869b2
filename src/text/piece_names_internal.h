#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rapt {

// The byte that a piece called "<0x0A>" stands for; nothing for any other name.
std::optional<std::uint8_t> byte_of_piece(std::string_view name);

}  // namespace rapt
