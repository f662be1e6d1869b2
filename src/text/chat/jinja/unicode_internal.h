#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Characters of valid UTF-8 as Python's str sees them.

namespace rapt::jinja {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t num_bytes = 1;
};

// The character at `pos`, which must begin one.
CodePoint code_point_at(std::string_view utf8, std::size_t pos);
// Where the character that ends at `end` begins.
std::size_t begin_of_previous(std::string_view utf8, std::size_t end);
std::size_t num_code_points(std::string_view utf8);
// Where character number `idx` begins; the end when there are fewer.
std::size_t byte_offset(std::string_view utf8, std::size_t idx);
void append_utf8(std::string& out, std::uint32_t code_point);

bool is_space(std::uint32_t code_point);      // str.isspace, and what strip() strips
bool is_line_end(std::uint32_t code_point);   // where splitlines() cuts
bool is_printable(std::uint32_t code_point);  // what repr() shows as it is
bool is_alpha(std::uint32_t code_point);
bool is_decimal(std::uint32_t code_point);
bool is_digit(std::uint32_t code_point);
bool is_numeric(std::uint32_t code_point);
bool is_upper(std::uint32_t code_point);
bool is_lower(std::uint32_t code_point);
bool is_title(std::uint32_t code_point);

enum class Case { kLower, kUpper, kTitle, kFold };

// The character in another case: one character, but for sharp s and the like. What depends on
// neighbours (a final sigma) is left out.
std::string in_case(std::uint32_t code_point, Case wanted);

}  // namespace rapt::jinja
