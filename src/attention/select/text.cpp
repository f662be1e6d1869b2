#include <array>
#include <cstdio>

#include "attention/select/text_internal.h"

namespace rapt {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::string_view trim_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) {
      text += separator;
    }
    text += part;
  }
  return text;
}

std::string join_and(std::span<const std::string> parts) {
  if (parts.size() < 2) {
    return join(parts, "");
  }
  return join(parts.first(parts.size() - 1), ", ") + " and " + parts.back();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(trim_blanks(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return pieces;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    if (end != 0) {
      words.push_back(text.substr(0, end));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

bool contains_word(std::string_view words, std::string_view word) {
  for (const std::string_view one : words_of(words)) {
    if (one == word) {
      return true;
    }
  }
  return false;
}

std::string decimal(double value, int digits) {
  std::array<char, 64> buffer = {};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  std::string text = buffer.data();
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text;
}

std::string duration_text(double us) {
  const double value = us < 1e3 ? us : us < 1e6 ? us / 1e3 : us / 1e6;
  const std::string_view unit = us < 1e3 ? " us" : us < 1e6 ? " ms" : " s";
  return decimal(value, value < 9.95 ? 1 : 0) + std::string(unit);
}

std::string factor_text(double factor) {
  return decimal(factor, factor < 1.095 ? 2 : factor < 9.95 ? 1 : 0) + "x";
}

}  // namespace rapt
