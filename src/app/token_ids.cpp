#include "app/token_ids.h"

#include <charconv>
#include <system_error>

#include "app/input_file.h"

namespace rapt {

namespace {

bool is_separator(char c) {
  return c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '[' || c == ']';
}

}  // namespace

Result<std::vector<TokenId>> parse_token_ids(std::string_view text, std::string_view what) {
  std::vector<TokenId> ids;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_separator(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_separator(text[end])) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    TokenId id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || stop != word.data() + word.size() || id < 0) {
      return invalid_argument(
          std::string(what) + ": '" + std::string(word.substr(0, 40)) +
          "' is not a token id; ids are whole numbers from 0 on, such as 1,2,3"
      );
    }
    ids.push_back(id);
    at = end;
  }
  if (ids.empty()) {
    return invalid_argument(std::string(what) + " holds no token id; give some, such as 1,2,3");
  }
  return ids;
}

Result<std::vector<TokenId>> read_token_ids_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_input_file(path, "--token-ids-file"));
  return parse_token_ids(text, path);
}

}  // namespace rapt
