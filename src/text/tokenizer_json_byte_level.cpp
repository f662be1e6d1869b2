#include <algorithm>
#include <utility>

#include "text/byte_level_internal.h"
#include "text/byte_level_model_internal.h"
#include "text/known_patterns_internal.h"
#include "text/tokenizer_json_internal.h"

namespace rapt {

namespace {

Result<Normalizer> read_normalizer(const TokenizerJson& file) {
  // DeepSeek's files have a list of none.
  ASSIGN_OR_RETURN(const auto steps, file.read_steps("normalizer", "normalizers"));
  if (steps.empty()) {
    return Normalizer::kNone;
  }
  for (const json::object* step : steps) {
    if (const std::string_view type = string_or_empty(*step, "type"); type != "NFC") {
      return file.error(
          "the normalizer must be null or NFC, not '", type, "'; others are not supported"
      );
    }
  }
  return Normalizer::kNfc;
}

// A regular expression that matches `text` and nothing else.
std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    pattern += is_word || !is_ascii ? "" : "\\";
    pattern += c;
  }
  return pattern;
}

// A step of the pre-tokenizer as the pattern that it cuts out.
Result<std::string> read_split(const TokenizerJson& file, const json::object& step) {
  const std::string_view type = string_or_empty(step, "type");
  if (type == "Digits") {
    const bool one_by_one = flag(step, "individual_digits", false);
    return std::string(one_by_one ? kDigitPattern : kDigitsPattern);
  }
  if (type != "Split") {
    return file.error(
        "pre_tokenizer has the step '",
        type,
        "'; only Split and Digits, and ByteLevel as the last, are supported"
    );
  }
  const json::object* pattern = find_object(step, "pattern");
  if (pattern == nullptr) {
    return file.error("a Split pre-tokenizer needs a pattern.Regex or a pattern.String");
  }
  const std::string_view regex = string_or_empty(*pattern, "Regex");
  const std::string_view text = string_or_empty(*pattern, "String");
  if (regex.empty() == text.empty()) {
    return file.error("a Split pre-tokenizer needs a pattern.Regex or a pattern.String");
  }
  if (string_or_empty(step, "behavior") != "Isolated" || flag(step, "invert", false)) {
    return file.error("a Split pre-tokenizer must have the behavior Isolated and not invert");
  }
  return regex.empty() ? literal_pattern(text) : std::string(regex);
}

Result<std::vector<std::string>> read_patterns(const TokenizerJson& file) {
  ASSIGN_OR_RETURN(const auto steps, file.read_steps("pre_tokenizer", "pretokenizers"));
  if (steps.empty() || string_or_empty(*steps.back(), "type") != "ByteLevel") {
    return file.error("pre_tokenizer must end in ByteLevel when it holds one");
  }
  if (flag(*steps.back(), "add_prefix_space", true)) {
    return file.error("a ByteLevel pre-tokenizer with add_prefix_space is not supported");
  }
  std::vector<std::string> patterns;
  for (std::size_t idx = 0; idx + 1 < steps.size(); ++idx) {
    ASSIGN_OR_RETURN(std::string pattern, read_split(file, *steps[idx]));
    patterns.push_back(std::move(pattern));
  }
  if (flag(*steps.back(), "use_regex", true)) {
    if (patterns.size() == 1 && patterns[0] == kDigitPattern) {
      return std::vector{std::string(kSmollmPattern)};  // both in one
    }
    patterns.emplace_back(kGpt2Pattern);
  }
  if (patterns.empty()) {
    return file.error("pre_tokenizer must split: by a Split, or by ByteLevel's use_regex");
  }
  return patterns;
}

// A control token may stand in the vocabulary under its plain name (GPT-2 does that).
Vocabulary make_vocabulary(const std::vector<std::string_view>& tokens) {
  std::string arena;
  std::vector<std::uint32_t> lengths;
  lengths.reserve(tokens.size());
  for (const std::string_view token : tokens) {
    const std::size_t size_before = arena.size();
    if (!append_bytes_of_byte_level(token, arena)) {
      arena += token;
    }
    lengths.push_back(static_cast<std::uint32_t>(arena.size() - size_before));
  }
  return Vocabulary(std::move(arena), lengths);
}

}  // namespace

bool is_byte_level(const TokenizerJson& file) {
  const auto steps = file.read_steps("pre_tokenizer", "pretokenizers");
  return steps && std::any_of(steps->begin(), steps->end(), [](const json::object* step) {
           return string_or_empty(*step, "type") == "ByteLevel";
         });
}

Result<std::unique_ptr<const BpeModel>> read_byte_level_model(const TokenizerJson& file) {
  if (flag(file.model, "byte_fallback", false)) {
    return file.error("model.byte_fallback is true beside ByteLevel, which is not supported");
  }
  ASSIGN_OR_RETURN(const Normalizer normalizer, read_normalizer(file));
  ASSIGN_OR_RETURN(const std::vector<std::string> patterns, read_patterns(file));
  auto pretokenizer =
      Pretokenizer::compile(std::vector<std::string_view>(patterns.begin(), patterns.end()));
  if (!pretokenizer) {
    return file.error(pretokenizer.error().message);
  }
  ASSIGN_OR_RETURN(const JsonBpe bpe, read_bpe(file));
  Vocabulary vocabulary = make_vocabulary(bpe.tokens);
  ASSIGN_OR_RETURN(const auto merges, resolve_merges(file, bpe, vocabulary, bytes_of_byte_level));
  return std::unique_ptr<const BpeModel>(std::make_unique<ByteLevelModel>(
      *std::move(pretokenizer),
      BytePairMerger(std::move(vocabulary), merges, flag(file.model, "ignore_merges", false)),
      normalizer
  ));
}

}  // namespace rapt
