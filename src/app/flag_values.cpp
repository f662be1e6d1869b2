#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "app/flag_values_internal.h"
#include "app/token_ids.h"

namespace rapt {

namespace {

// Suffixes of sizes and counts, as vLLM reads them: small letters are powers of 1000, capitals
// powers of 1024. The longer spellings say it outright.
struct Suffix {
  std::string_view text;
  double factor;
};

constexpr double kKilo = 1e3;
constexpr double kKibi = 1024;
constexpr double kTebi = kKibi * kKibi * kKibi * kKibi;
constexpr auto kSuffixes = std::to_array<Suffix>({
    {"", 1},
    {"k", kKilo},
    {"m", kKilo* kKilo},
    {"g", kKilo* kKilo* kKilo},
    {"t", kKilo* kKilo* kKilo* kKilo},
    {"K", kKibi},
    {"M", kKibi* kKibi},
    {"G", kKibi* kKibi* kKibi},
    {"T", kTebi},
    {"KB", kKilo},
    {"kB", kKilo},
    {"MB", kKilo* kKilo},
    {"GB", kKilo* kKilo* kKilo},
    {"TB", kKilo* kKilo* kKilo* kKilo},
    {"KiB", kKibi},
    {"MiB", kKibi* kKibi},
    {"GiB", kKibi* kKibi* kKibi},
    {"TiB", kTebi},
});

// A number with a suffix, rounded down: 1.5GiB. Nothing when it is none.
std::optional<double> parse_scaled(std::string_view text) {
  double number = 0.0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) {
    return std::nullopt;
  }
  std::string_view rest(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  while (rest.starts_with(' ')) {
    rest.remove_prefix(1);
  }
  for (const Suffix& suffix : kSuffixes) {
    if (rest == suffix.text) {
      // "1.5" of something that has no parts is a mistake; "1.5k" is not.
      if (suffix.factor == 1 && number != std::floor(number)) {
        return std::nullopt;
      }
      return std::floor(number * suffix.factor);
    }
  }
  return std::nullopt;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool is_in_range(double number, const FlagRange& range) {
  return std::isfinite(number) && number >= range.low && number <= range.high &&
         !(range.low_excluded && number == range.low);
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const std::string_view yes : {"true", "1", "yes", "on", "True"}) {
    if (text == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"false", "0", "no", "off", "False"}) {
    if (text == no) {
      return false;
    }
  }
  return std::nullopt;
}

// "on", "off" or "auto"; "" when `text` is no word for any of them.
std::string_view tri_state_word(std::string_view text) {
  if (text == "auto") {
    return text;
  }
  const std::optional<bool> on = parse_switch(text);
  return !on.has_value() ? "" : *on ? "on" : "off";
}

bool is_date(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00";
  if (text.size() != kPattern.size()) {
    return false;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_digit = text[at] >= '0' && text[at] <= '9';
    if (kPattern[at] == '0' ? !is_digit : text[at] != kPattern[at]) {
      return false;
    }
  }
  const int month = (text[5] - '0') * 10 + (text[6] - '0');
  const int day = (text[8] - '0') * 10 + (text[9] - '0');
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

std::string_view trim_blanks(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string shown_number(double number) {
  std::array<char, 32> buffer{};
  if (number == std::floor(number) && std::abs(number) < 1e18) {
    const auto result = std::to_chars(
        buffer.data(), buffer.data() + buffer.size(), static_cast<std::int64_t>(number)
    );
    return std::string(buffer.data(), result.ptr);
  }
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return std::string(buffer.data(), result.ptr);
}

std::string_view kind_in_words(FlagKind kind) {
  switch (kind) {
    case FlagKind::kSwitch:
      return "true or false";
    case FlagKind::kInt:
      return "a whole number";
    case FlagKind::kCount:
      return "a whole number, such as 4096 or 32k";
    case FlagKind::kBytes:
      return "a size, such as 512MiB or 8GiB";
    case FlagKind::kReal:
      return "a number";
    case FlagKind::kDate:
      return "a date such as 2025-08-05";
    case FlagKind::kText:
    case FlagKind::kChoice:
    case FlagKind::kTexts:
    case FlagKind::kWholeTexts:
    case FlagKind::kTokenIds:
    case FlagKind::kTriState:
    case FlagKind::kMapping:
      return "";
  }
  return "";
}

bool is_choice(std::string_view text, std::string_view choices) {
  for (const std::string_view choice : split_at(choices, '|')) {
    if (text == choice && !choice.empty()) {
      return true;
    }
  }
  return false;
}

Error wrong_value(const FlagSpec& flag, std::string_view text, std::string_view where) {
  std::string message(where);
  message += ": '" + std::string(text.substr(0, 60)) + "' does not work here; it takes ";
  message += kind_in_words(flag.kind);
  const std::string allowed = allowed_values(flag);
  if (!allowed.empty() && !kind_in_words(flag.kind).empty()) {
    message += ", ";
  }
  return invalid_argument(message + allowed, std::string(flag.name));
}

Result<FlagValue> convert_number(
    const FlagSpec& flag, std::string_view text, std::string_view where
) {
  FlagValue value;
  if (!flag.auto_word.empty() && text == flag.auto_word) {
    return value;
  }
  bool fits = false;
  if (flag.kind == FlagKind::kInt) {
    // Not by way of double, which would round a large seed.
    const std::optional<std::int64_t> number = parse_number<std::int64_t>(text);
    fits = number.has_value() && is_in_range(static_cast<double>(*number), flag.range) &&
           *number % flag.range.multiple_of == 0;
    value.whole = number.value_or(0);
  } else {
    const std::optional<double> number =
        flag.kind == FlagKind::kReal ? parse_number<double>(text) : parse_scaled(text);
    fits = number.has_value() && is_in_range(*number, flag.range);
    value.real = number.value_or(0.0);
    value.whole = fits ? static_cast<std::int64_t>(value.real) : 0;
  }
  if (!fits) {
    return wrong_value(flag, text, where);
  }
  return value;
}

Result<FlagValue> convert_list(
    const FlagSpec& flag, std::span<const std::string> texts, std::string_view where
) {
  FlagValue value;
  for (const std::string& text : texts) {
    if (flag.kind == FlagKind::kTokenIds) {
      ASSIGN_OR_RETURN(const std::vector<TokenId> ids, parse_token_ids(text, where));
      value.token_ids.insert(value.token_ids.end(), ids.begin(), ids.end());
      continue;
    }
    const bool is_split = flag.kind == FlagKind::kTexts;
    const std::vector<std::string_view> parts =
        is_split ? split_at(text, ',') : std::vector<std::string_view>{text};
    for (std::string_view part : parts) {
      part = is_split ? trim_blanks(part) : part;
      if (part.empty()) {
        return invalid_argument(
            std::string(where) + ": an empty value does not work here", std::string(flag.name)
        );
      }
      value.texts.emplace_back(part);
    }
  }
  return value;
}

// Texts are JSON objects, kept whole under the key "", or KEY=VALUE.
Result<FlagValue> convert_mapping(std::span<const std::string> texts, std::string_view where) {
  FlagValue value;
  for (const std::string& text : texts) {
    const std::string_view trimmed = trim_blanks(text);
    const std::size_t equals = trimmed.find('=');
    if (trimmed.starts_with('{')) {
      value.pairs.emplace_back("", trimmed);
    } else if (equals != std::string_view::npos && equals > 0) {
      value.pairs.emplace_back(trimmed.substr(0, equals), trimmed.substr(equals + 1));
    } else {
      return invalid_argument(
          std::string(where) + ": '" + text.substr(0, 60) +
          "' does not work here; it takes a JSON object or KEY=VALUE"
      );
    }
  }
  return value;
}

}  // namespace

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.push_back(text.substr(begin));
      return parts;
    }
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string allowed_values(const FlagSpec& flag) {
  std::string words;
  for (const std::string_view choice : split_at(flag.choices, '|')) {
    words += (words.empty() ? "" : ", ") + std::string(choice);
  }
  switch (flag.kind) {
    case FlagKind::kInt:
    case FlagKind::kCount:
    case FlagKind::kBytes:
    case FlagKind::kReal: {
      std::string text = flag.range.low_excluded ? "above " : "from ";
      text += shown_number(flag.range.low) + (flag.range.low_excluded ? " and up to " : " to ");
      text += flag.kind == FlagKind::kBytes ? shown_number(flag.range.high / kTebi) + "TiB"
                                            : shown_number(flag.range.high);
      if (flag.range.multiple_of != 1) {
        text += ", a multiple of " + std::to_string(flag.range.multiple_of);
      }
      return flag.auto_word.empty() ? text : text + ", or " + std::string(flag.auto_word);
    }
    case FlagKind::kChoice:
    case FlagKind::kTriState:
      return "one of " + words;
    case FlagKind::kDate:
      return "or " + words;
    case FlagKind::kSwitch:
    case FlagKind::kText:
    case FlagKind::kTexts:
    case FlagKind::kWholeTexts:
    case FlagKind::kTokenIds:
    case FlagKind::kMapping:
      return "";
  }
  return "";
}

bool is_tri_state(std::string_view text) {
  return !tri_state_word(text).empty();
}

Result<FlagValue> convert_flag(
    const FlagSpec& flag, std::span<const std::string> texts, std::string_view where
) {
  CHECK(!texts.empty(), "flag ", flag.name, " has no value to convert");
  const std::string& last = texts.back();
  FlagValue value;
  switch (flag.kind) {
    case FlagKind::kSwitch: {
      const std::optional<bool> on = parse_switch(last);
      if (!on.has_value()) {
        return wrong_value(flag, last, where);
      }
      value.on = *on;
      return value;
    }
    case FlagKind::kInt:
    case FlagKind::kCount:
    case FlagKind::kBytes:
    case FlagKind::kReal:
      return convert_number(flag, last, where);
    case FlagKind::kChoice:
      if (!is_choice(last, flag.choices)) {
        return wrong_value(flag, last, where);
      }
      value.text = last;
      return value;
    case FlagKind::kTriState:
      value.text = tri_state_word(last);
      if (value.text.empty()) {
        return wrong_value(flag, last, where);
      }
      return value;
    case FlagKind::kMapping:
      return convert_mapping(texts, where);
    case FlagKind::kDate:
      if (!is_choice(last, flag.choices) && !is_date(last)) {
        return wrong_value(flag, last, where);
      }
      value.text = last;
      return value;
    case FlagKind::kText:
      value.text = last;
      return value;
    case FlagKind::kTexts:
    case FlagKind::kWholeTexts:
    case FlagKind::kTokenIds:
      return convert_list(flag, texts, where);
  }
  return value;
}

}  // namespace rapt
