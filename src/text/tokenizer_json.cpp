#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json.h"
#include "text/bpe_tokenizer_internal.h"
#include "text/byte_level_internal.h"
#include "text/known_patterns_internal.h"
#include "text/o200k_harmony_internal.h"
#include "text/tokenizer.h"

namespace rapt {

namespace {

// Reads one tokenizer.json. Each step returns the first thing that is not as expected.
class TokenizerJsonReader {
 public:
  explicit TokenizerJsonReader(std::string what) : path_(std::move(what)) {}

  Result<std::unique_ptr<Tokenizer>> read(std::string_view text);

 private:
  template <typename... Parts>
  Error error(const Parts&... parts) const {
    std::ostringstream out;
    out << path_ << ": ";
    (out << ... << parts);
    return bad_file(out.str());
  }

  Result<Normalizer> read_normalizer(const json::object& root) const;
  Result<std::vector<std::string>> read_patterns(const json::object& root) const;
  Result<std::vector<const json::object*>> read_steps(const json::object& pre_tokenizer) const;
  Result<std::string> read_split(const json::object& step) const;
  Result<const json::object*> read_model(const json::object& root) const;
  Result<Vocabulary> read_vocabulary(
      const json::object& model, const std::vector<AddedToken>& added_tokens
  ) const;
  Result<std::vector<BytePairMerger::Merge>> read_merges(
      const json::object& model, const Vocabulary& vocabulary
  ) const;
  Result<BytePairMerger::Merge> read_merge(
      const json::value& item, std::size_t index, const Vocabulary& vocabulary
  ) const;
  Result<std::vector<AddedToken>> read_added_tokens(const json::object& root) const;
  Result<AddedToken> read_added_token(const json::value& item) const;

  std::string path_;
};

const json::object* find_object(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

std::string_view string_or_empty(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

bool flag(const json::object& parent, std::string_view key, bool when_absent) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr && value->is_bool() ? value->get_bool() : when_absent;
}

std::optional<TokenId> token_id(const json::value* value) {
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0 ||
      value->get_int64() > kMaxTokenId) {
    return std::nullopt;
  }
  return static_cast<TokenId>(value->get_int64());
}

Result<Normalizer> TokenizerJsonReader::read_normalizer(const json::object& root) const {
  const json::value* normalizer = root.if_contains("normalizer");
  const json::object* object = normalizer != nullptr ? normalizer->if_object() : nullptr;
  if (object != nullptr && string_or_empty(*object, "type") == "Sequence") {
    // DeepSeek's files have a list of none.
    const json::value* list = object->if_contains("normalizers");
    if (list != nullptr && list->is_array() && list->get_array().size() <= 1) {
      normalizer = list->get_array().empty() ? nullptr : &list->get_array().front();
      object = normalizer != nullptr ? normalizer->if_object() : nullptr;
    }
  }
  if (normalizer == nullptr || normalizer->is_null()) {
    return Normalizer::kNone;
  }
  const std::string_view type = object != nullptr ? string_or_empty(*object, "type") : "";
  if (type == "NFC") {
    return Normalizer::kNfc;
  }
  return error("the normalizer must be null or NFC, not '", type, "'; others are not supported");
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
Result<std::string> TokenizerJsonReader::read_split(const json::object& step) const {
  const std::string_view type = string_or_empty(step, "type");
  if (type == "Digits") {
    const bool one_by_one = flag(step, "individual_digits", false);
    return std::string(one_by_one ? kDigitPattern : kDigitsPattern);
  }
  if (type != "Split") {
    return error(
        "pre_tokenizer has the step '",
        type,
        "'; only Split and Digits, and ByteLevel as the last, are supported"
    );
  }
  const json::object* pattern = find_object(step, "pattern");
  if (pattern == nullptr) {
    return error("a Split pre-tokenizer needs a pattern.Regex or a pattern.String");
  }
  const std::string_view regex = string_or_empty(*pattern, "Regex");
  const std::string_view text = string_or_empty(*pattern, "String");
  if (regex.empty() == text.empty()) {
    return error("a Split pre-tokenizer needs a pattern.Regex or a pattern.String");
  }
  if (string_or_empty(step, "behavior") != "Isolated" || flag(step, "invert", false)) {
    return error("a Split pre-tokenizer must have the behavior Isolated and not invert");
  }
  return regex.empty() ? literal_pattern(text) : std::string(regex);
}

Result<std::vector<const json::object*>> TokenizerJsonReader::read_steps(
    const json::object& pre_tokenizer
) const {
  std::vector<const json::object*> steps;
  if (string_or_empty(pre_tokenizer, "type") != "Sequence") {
    steps.push_back(&pre_tokenizer);
    return steps;
  }
  const json::value* list = pre_tokenizer.if_contains("pretokenizers");
  if (list == nullptr || !list->is_array()) {
    return error("pre_tokenizer.pretokenizers must be an array");
  }
  for (const json::value& step : list->get_array()) {
    if (!step.is_object()) {
      return error("pre_tokenizer.pretokenizers holds ", json_kind_name(step));
    }
    steps.push_back(&step.get_object());
  }
  return steps;
}

Result<std::vector<std::string>> TokenizerJsonReader::read_patterns(const json::object& root
) const {
  const json::object* pre_tokenizer = find_object(root, "pre_tokenizer");
  if (pre_tokenizer == nullptr) {
    return error("pre_tokenizer must be an object: only byte-level BPE is supported");
  }
  ASSIGN_OR_RETURN(const auto steps, read_steps(*pre_tokenizer));
  if (steps.empty() || string_or_empty(*steps.back(), "type") != "ByteLevel") {
    return error("pre_tokenizer must end in ByteLevel: only byte-level BPE is supported");
  }
  if (flag(*steps.back(), "add_prefix_space", true)) {
    return error("a ByteLevel pre-tokenizer with add_prefix_space is not supported");
  }
  std::vector<std::string> patterns;
  for (std::size_t idx = 0; idx + 1 < steps.size(); ++idx) {
    ASSIGN_OR_RETURN(std::string pattern, read_split(*steps[idx]));
    patterns.push_back(std::move(pattern));
  }
  if (flag(*steps.back(), "use_regex", true)) {
    if (patterns.size() == 1 && patterns[0] == kDigitPattern) {
      return std::vector{std::string(kSmollmPattern)};  // both in one
    }
    patterns.emplace_back(kGpt2Pattern);
  }
  if (patterns.empty()) {
    return error("pre_tokenizer must split: by a Split, or by ByteLevel's use_regex");
  }
  return patterns;
}

Result<const json::object*> TokenizerJsonReader::read_model(const json::object& root) const {
  const json::object* model = find_object(root, "model");
  if (model == nullptr) {
    return error("model must be an object");
  }
  // Old files leave the type out when it is BPE.
  const std::string_view type = string_or_empty(*model, "type");
  if (type != "BPE" && model->contains("type")) {
    return error("model.type is '", type, "'; only BPE is supported");
  }
  if (flag(*model, "byte_fallback", false)) {
    return error("model.byte_fallback is true; only byte-level BPE is supported, where it is false"
    );
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!string_or_empty(*model, key).empty()) {
      return error("model.", key, " is not supported");
    }
  }
  return model;
}

Result<Vocabulary> TokenizerJsonReader::read_vocabulary(
    const json::object& model, const std::vector<AddedToken>& added_tokens
) const {
  const json::object* vocab = find_object(model, "vocab");
  if (vocab == nullptr || vocab->empty()) {
    return error("model.vocab must be an object that maps tokens to ids");
  }
  std::vector<std::string> tokens;
  for (const auto& member : *vocab) {
    const std::string_view key = member.key();
    const auto id = token_id(&member.value());
    if (!id) {
      return error("model.vocab gives '", key, "' no id from 0 to ", kMaxTokenId);
    }
    const auto index = static_cast<std::size_t>(*id);
    if (index >= tokens.size()) {
      tokens.resize(index + 1);
    }
    if (!tokens[index].empty()) {
      return error("model.vocab gives the id ", *id, " to two tokens, one of them '", key, "'");
    }
    // A control token may stand in the vocabulary under its plain name (GPT-2 does that).
    tokens[index] = bytes_of_byte_level(key).value_or(std::string(key));
    if (tokens[index].empty()) {
      return error("model.vocab holds an empty token, id ", *id);
    }
  }
  // A control token that stands in the vocabulary too must not be what plain text is made of.
  for (const AddedToken& added : added_tokens) {
    const auto index = static_cast<std::size_t>(added.id);
    const json::value* id = vocab->if_contains(added.name);
    if (id == nullptr) {
      if (index < tokens.size() && !tokens[index].empty()) {
        return error(
            "added token '",
            added.name,
            "' has the id ",
            added.id,
            ", which model.vocab gives to another token"
        );
      }
      continue;
    }
    if (id->get_int64() != added.id) {
      return error(
          "added token '",
          added.name,
          "' has the id ",
          added.id,
          ", but model.vocab gives it ",
          id->get_int64()
      );
    }
    if (added.in_text == AddedToken::InText::kWhenAllowed) {
      tokens[index].clear();
    }
  }
  std::string arena;
  std::vector<std::uint32_t> lengths;
  lengths.reserve(tokens.size());
  for (const std::string& token : tokens) {
    arena += token;
    lengths.push_back(static_cast<std::uint32_t>(token.size()));
  }
  return Vocabulary(std::move(arena), lengths);
}

Result<BytePairMerger::Merge> TokenizerJsonReader::read_merge(
    const json::value& item, std::size_t index, const Vocabulary& vocabulary
) const {
  std::string_view left;
  std::string_view right;
  if (const json::string* text = item.if_string()) {
    // The old form: both parts in one string. No part holds a blank: the alphabet has none.
    const std::string_view both(*text);
    const std::size_t blank = both.find(' ');
    left = both.substr(0, blank);
    right = blank != std::string_view::npos ? both.substr(blank + 1) : std::string_view();
  } else if (item.is_array() && item.get_array().size() == 2 && item.get_array()[0].is_string() &&
             item.get_array()[1].is_string()) {
    left = item.get_array()[0].get_string();
    right = item.get_array()[1].get_string();
  }
  if (left.empty() || right.empty()) {
    return error("model.merges[", index, "] is no pair of tokens");
  }
  const auto left_bytes = bytes_of_byte_level(left);
  const auto right_bytes = bytes_of_byte_level(right);
  const BytePairMerger::Merge merge{
      left_bytes ? vocabulary.find(*left_bytes) : kNoToken,
      right_bytes ? vocabulary.find(*right_bytes) : kNoToken,
      left_bytes && right_bytes ? vocabulary.find(*left_bytes + *right_bytes) : kNoToken,
  };
  if (merge.left == kNoToken || merge.right == kNoToken || merge.joined == kNoToken) {
    return error(
        "model.merges[",
        index,
        "] joins '",
        left,
        "' and '",
        right,
        "', but these two or what they make are not all in model.vocab"
    );
  }
  return merge;
}

Result<std::vector<BytePairMerger::Merge>> TokenizerJsonReader::read_merges(
    const json::object& model, const Vocabulary& vocabulary
) const {
  const json::value* list = model.if_contains("merges");
  if (list == nullptr || !list->is_array()) {
    return error("model.merges must be an array");
  }
  std::vector<BytePairMerger::Merge> merges;
  merges.reserve(list->get_array().size());
  for (const json::value& item : list->get_array()) {
    ASSIGN_OR_RETURN(const auto merge, read_merge(item, merges.size(), vocabulary));
    merges.push_back(merge);
  }
  return merges;
}

Result<AddedToken> TokenizerJsonReader::read_added_token(const json::value& item) const {
  const json::object* token = item.if_object();
  const std::string_view name = token != nullptr ? string_or_empty(*token, "content") : "";
  const auto id = token != nullptr ? token_id(token->if_contains("id")) : std::nullopt;
  if (name.empty() || !id) {
    return error("each of added_tokens needs a content and an id from 0 to ", kMaxTokenId);
  }
  using InText = AddedToken::InText;
  const bool is_special = flag(*token, "special", false);
  return AddedToken{
      .id = *id,
      .name = std::string(name),
      .in_text = is_special ? InText::kWhenAllowed : InText::kAlways,
      .lstrip = flag(*token, "lstrip", false),
      .rstrip = flag(*token, "rstrip", false),
      .is_single_word = flag(*token, "single_word", false),
      .is_normalized = flag(*token, "normalized", !is_special),
  };
}

Result<std::vector<AddedToken>> TokenizerJsonReader::read_added_tokens(const json::object& root
) const {
  std::vector<AddedToken> tokens;
  std::set<std::string> names;
  std::set<TokenId> ids;
  const json::value* list = root.if_contains("added_tokens");
  if (list == nullptr || list->is_null()) {
    return tokens;
  }
  if (!list->is_array()) {
    return error("added_tokens must be an array");
  }
  for (const json::value& item : list->get_array()) {
    ASSIGN_OR_RETURN(AddedToken token, read_added_token(item));
    if (!names.insert(token.name).second || !ids.insert(token.id).second) {
      return error("added token '", token.name, "', id ", token.id, ", stands there twice");
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<std::unique_ptr<Tokenizer>> TokenizerJsonReader::read(std::string_view text) {
  Result<json::value> document = parse_json(text, path_);
  if (!document) {
    return bad_file(std::move(document).error().message);
  }
  const json::object* root = document->if_object();
  if (root == nullptr) {
    return error("expected an object, found ", json_kind_name(*document));
  }
  ASSIGN_OR_RETURN(const Normalizer normalizer, read_normalizer(*root));
  ASSIGN_OR_RETURN(const std::vector<std::string> patterns, read_patterns(*root));
  const std::vector<std::string_view> pattern_views(patterns.begin(), patterns.end());
  auto pretokenizer = Pretokenizer::compile(pattern_views);
  if (!pretokenizer) {
    return error(pretokenizer.error().message);
  }
  ASSIGN_OR_RETURN(const json::object* model, read_model(*root));
  ASSIGN_OR_RETURN(std::vector<AddedToken> added_tokens, read_added_tokens(*root));
  ASSIGN_OR_RETURN(Vocabulary vocabulary, read_vocabulary(*model, added_tokens));
  ASSIGN_OR_RETURN(const auto merges, read_merges(*model, vocabulary));
  // The file ends at 200018: with the ids behind, it is the same tokenizer as the built-in one.
  complete_o200k_harmony(added_tokens);
  const bool whole_piece_first = flag(*model, "ignore_merges", false);
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
      *std::move(pretokenizer),
      BytePairMerger(std::move(vocabulary), merges, whole_piece_first),
      std::move(added_tokens),
      normalizer
  ));
}

Result<std::string> read_file(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    return not_found(path + " is no file; expected a tokenizer.json there");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) {
    return not_found(path + " cannot be read; check its permissions");
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer_json(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse_tokenizer_json(text, path);
}

Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(
    std::string_view text, const std::string& what
) {
  return TokenizerJsonReader(what).read(text);
}

}  // namespace rapt
