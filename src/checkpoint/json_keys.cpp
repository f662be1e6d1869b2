#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "checkpoint/json_keys_internal.h"

namespace rapt {

namespace {

// The position just behind the string that opens at `begin`.
std::size_t string_end(std::string_view text, std::size_t begin) {
  std::size_t pos = begin + 1;
  while (pos < text.size() && text[pos] != '"') {
    pos += text[pos] == '\\' ? 2 : 1;
  }
  return pos + 1;
}

// Two spellings of one key ("a", "\u0061") are the same key.
std::string decoded(std::string_view literal) {
  if (literal.find('\\') != std::string_view::npos) {
    const Result<json::value> value = parse_json(literal, "a key");
    if (value && value->is_string()) {
      return std::string(value->get_string());
    }
  }
  return std::string(literal.substr(1, literal.size() - 2));
}

}  // namespace

std::optional<std::string> find_duplicate_key(std::string_view valid_json) {
  std::vector<std::unordered_set<std::string>> open_objects;
  std::size_t pos = 0;
  while (pos < valid_json.size()) {
    const char c = valid_json[pos];
    if (c == '"') {
      const std::size_t end = string_end(valid_json, pos);
      const std::size_t next = valid_json.find_first_not_of(" \t\r\n", end);
      // In valid JSON a string before a colon is a key, and nothing else is.
      if (next != std::string_view::npos && valid_json[next] == ':') {
        std::string key = decoded(valid_json.substr(pos, end - pos));
        if (open_objects.back().contains(key)) {
          return key;
        }
        open_objects.back().insert(std::move(key));
      }
      pos = end;
      continue;
    }
    if (c == '{') {
      open_objects.emplace_back();
    } else if (c == '}') {
      open_objects.pop_back();
    }
    ++pos;
  }
  return std::nullopt;
}

}  // namespace rapt
