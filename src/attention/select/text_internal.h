#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Small helpers for texts, shared by the files of this folder.

namespace rapt {

std::string lower_case(std::string_view text);
std::string_view trim_blanks(std::string_view text);

// "a", "a and b", "a, b and c".
std::string join_and(std::span<const std::string> parts);
std::string join(std::span<const std::string> parts, std::string_view separator);

// Pieces between single separators, blanks around each taken off; "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);

// The words of a blank-separated list.
std::vector<std::string_view> words_of(std::string_view text);

bool contains_word(std::string_view words, std::string_view word);

// With at most `digits` decimals and no zeros behind: "1.6", "40".
std::string decimal(double value, int digits);

// Microseconds as people read them: "61 ms", "4.1 s", "850 us".
std::string duration_text(double us);

// A factor: "1.6x", "40x".
std::string factor_text(double factor);

}  // namespace rapt
