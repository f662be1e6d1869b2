#include <algorithm>
#include <optional>

#include "app/flag_sources_internal.h"
#include "app/flag_values_internal.h"

namespace rapt {

namespace {

// A word that names a flag, taken apart: "-ac.backend=X" is `attention-config`, "backend", "X".
struct FlagWord {
  const FlagSpec* flag = nullptr;
  std::string key;                   // of a mapping's part; else ""
  std::optional<std::string> value;  // what followed the = sign
};

// What follows `name` in `word`: "" or ".key"; nothing when `word` is another flag.
std::optional<std::string_view> rest_after(std::string_view word, std::string_view name) {
  if (!word.starts_with(name)) {
    return std::nullopt;
  }
  const std::string_view rest = word.substr(name.size());
  return rest.empty() || rest.front() == '.' ? std::optional(rest) : std::nullopt;
}

std::optional<FlagWord> read_word(const CommandSpec& command, const std::string& argument) {
  const std::size_t name_end = std::min(argument.find('='), argument.size());
  const std::string_view written = std::string_view(argument).substr(0, name_end);
  const std::string name = with_dashes(std::string(written));
  for (const FlagSpec* flag : flags_of(command.bit)) {
    std::vector<std::string> names = {"--" + std::string(flag->name)};
    for (const std::string_view spelling : split_at(flag->spellings, '|')) {
      names.emplace_back(spelling);
    }
    for (const std::string& each : names) {
      const std::optional<std::string_view> rest = rest_after(name, each);
      const bool is_part = rest.has_value() && !rest->empty();
      if (each.empty() || !rest.has_value() || (is_part && flag->kind != FlagKind::kMapping)) {
        continue;
      }
      FlagWord word{.flag = flag, .key = {}, .value = {}};
      if (is_part) {
        word.key = written.substr(each.size() + 1);  // as written: keys keep their underscores
      }
      if (name_end < argument.size()) {
        word.value = argument.substr(name_end + 1);
      }
      return word;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string with_dashes(const std::string& argument) {
  if (!argument.starts_with("--")) {
    return argument;
  }
  std::string result = argument;
  const std::size_t name_end = std::min(result.find('='), result.size());
  std::replace(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(name_end), '_', '-');
  return result;
}

std::vector<std::string> spelled_words(
    const CommandSpec& command, std::span<const std::string> args
) {
  std::vector<std::string> words;
  for (std::size_t idx = 0; idx < args.size(); ++idx) {
    if (args[idx] == "--") {
      words.insert(words.end(), args.begin() + static_cast<std::ptrdiff_t>(idx), args.end());
      return words;
    }
    const std::optional<FlagWord> word =
        args[idx].starts_with('-') ? read_word(command, args[idx]) : std::nullopt;
    if (!word.has_value()) {
      // CLI11 knows no -h: it would find it in every word that begins so, such as -hello.
      words.push_back(args[idx] == "-h" ? "--help" : with_dashes(args[idx]));
      continue;
    }
    const std::string flag = "--" + std::string(word->flag->name);
    const bool has_next = idx + 1 < args.size();
    if (word->value.has_value()) {
      words.push_back(flag + "=" + (word->key.empty() ? "" : word->key + "=") + *word->value);
    } else if (!word->key.empty() && has_next) {
      words.push_back(flag + "=" + word->key + "=" + args[++idx]);
    } else if (word->flag->kind == FlagKind::kTriState && (!has_next || !is_tri_state(args[idx + 1]))) {
      words.push_back(flag + "=on");
    } else {
      words.push_back(flag);
    }
  }
  return words;
}

}  // namespace rapt
