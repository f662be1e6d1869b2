#include "attention/select/settings.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

bool take_suffix(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix) || name.size() == suffix.size()) {
    return false;
  }
  name.resize(name.size() - suffix.size());
  return true;
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                         text.back() == text.front();
  return is_quoted ? trim_blanks(text.substr(1, text.size() - 2)) : text;
}

}  // namespace

std::string normalized_backend_name(std::string_view name) {
  std::string_view rest = without_quotes(trim_blanks(name));
  const std::size_t last = rest.find_last_of(".:");
  if (last != std::string_view::npos) {
    rest.remove_prefix(last + 1);
  }
  std::string normalized = lower_case(rest);
  for (char& c : normalized) {
    c = c == '-' || c == ' ' ? '_' : c;
  }
  while (take_suffix(normalized, "_vllm_v1") || take_suffix(normalized, "_v1") ||
         take_suffix(normalized, "_backend") || take_suffix(normalized, "backend")) {
  }
  if (normalized.empty() || contains_word("none default auto", normalized)) {
    return "auto";
  }
  return normalized;
}

}  // namespace rapt
