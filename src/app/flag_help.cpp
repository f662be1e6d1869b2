#include <algorithm>

#include "app/flag_help_internal.h"
#include "app/flag_sources_internal.h"
#include "app/flag_values_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kLineWidth = 96;
constexpr std::size_t kHelpColumn = 34;

std::string pad_to(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// `left` in the first column, `text` wrapped in the second.
std::string two_columns(const std::string& left, std::string_view text) {
  std::string out = pad_to("  " + left, kHelpColumn);
  if (out.size() > kHelpColumn || out.back() != ' ') {
    out += "\n" + std::string(kHelpColumn, ' ');
  }
  std::size_t column = kHelpColumn;
  for (const std::string_view word : split_at(text, ' ')) {
    if (column > kHelpColumn && column + 1 + word.size() > kLineWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    if (column > kHelpColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string flag_text(const FlagSpec& flag) {
  std::string text(flag.help);
  std::string facts;
  const std::string allowed = allowed_values(flag);
  if (!allowed.empty()) {
    facts = flag.kind == FlagKind::kDate ? "YYYY-MM-DD, " + allowed : allowed;
  }
  if (!flag.default_text.empty()) {
    facts += (facts.empty() ? "default " : "; default ") + std::string(flag.default_text);
  }
  return facts.empty() ? text : text + " (" + facts + ")";
}

std::string flag_left(const FlagSpec& flag) {
  if (flag.is_positional) {
    return std::string(flag.metavar);
  }
  std::string left = "--" + std::string(flag.name);
  for (const std::string_view spelling : split_at(flag.spellings, '|')) {
    left += spelling.empty() ? "" : ", " + std::string(spelling);
  }
  return flag.metavar.empty() ? left : left + " " + std::string(flag.metavar);
}

}  // namespace

std::string general_help() {
  std::string out =
      "usage: rapt COMMAND [arguments]\n\n"
      "Runs and serves open-weight language models.\n\n"
      "Commands:\n";
  for (const CommandSpec& command : command_table()) {
    out +=
        two_columns(std::string(command.name) + " " + std::string(command.usage), command.summary);
  }
  out += two_columns("help COMMAND", "Lists a command's flags; so does rapt COMMAND --help.");
  out += two_columns("--version", "Prints the version.");
  return out;
}

std::string command_help(const CommandSpec& command) {
  std::string out = "usage: rapt " + std::string(command.name) + " " + std::string(command.usage);
  out += "\n\n" + std::string(command.summary) + "\n\n";
  const std::vector<const FlagSpec*> flags = flags_of(command.bit);
  for (const bool is_positional : {true, false}) {
    for (const FlagSpec* flag : flags) {
      if (flag->is_positional == is_positional && !flag->is_hidden) {
        out += two_columns(flag_left(*flag), flag_text(*flag));
      }
    }
    out += is_positional ? "\nFlags:\n" : "";
  }
  out += two_columns("--config FILE", "read flags from a YAML file whose keys are flag names");
  out += two_columns("-h, --help", "print this");
  out += two_columns("--version", "print the version");
  if (std::any_of(flags.begin(), flags.end(), [](const FlagSpec* flag) {
        return flag->is_hidden;
      })) {
    out +=
        "\nOther engines' flags that concern attention are understood as well; docs/ATTENTION.md "
        "lists "
        "them.\n";
  }
  out +=
      "\nNumbers of tokens and bytes may end in k, m, g, t (powers of 1000) or K, M, G, T, KiB, "
      "MiB,\n"
      "GiB, TiB (powers of 1024). A switch is turned off by --no-NAME. Each flag can also stand "
      "in\n"
      "the YAML file (max-model-len: 32k) or in an environment variable (RAPT_MAX_MODEL_LEN=32k); "
      "the\n"
      "command line wins over the file, and the file over the environment.\n";
  return out;
}

}  // namespace rapt
