#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "text/bpe_tokenizer_internal.h"
#include "text/known_patterns_internal.h"
#include "text/o200k_harmony_internal.h"
#include "text/tokenizer_json_internal.h"

namespace rapt {

const json::object* find_object(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

const json::array* find_array(const json::object& parent, std::string_view key) {
  const json::value* value = parent.if_contains(key);
  return value != nullptr ? value->if_array() : nullptr;
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

Result<std::vector<const json::object*>> TokenizerJson::read_steps(
    std::string_view key, std::string_view list_key
) const {
  std::vector<const json::object*> steps;
  const json::value* value = root.if_contains(key);
  if (value == nullptr || value->is_null()) {
    return steps;
  }
  const json::object* object = value->if_object();
  if (object == nullptr) {
    return error(key, " must be an object or null, not ", json_kind_name(*value));
  }
  if (string_or_empty(*object, "type") != "Sequence") {
    steps.push_back(object);
    return steps;
  }
  const json::array* list = find_array(*object, list_key);
  if (list == nullptr) {
    return error(key, ".", list_key, " must be an array");
  }
  for (const json::value& step : *list) {
    if (!step.is_object()) {
      return error(key, ".", list_key, " holds ", json_kind_name(step));
    }
    steps.push_back(&step.get_object());
  }
  return steps;
}

namespace {

Result<void> check_model(const TokenizerJson& file) {
  // Old files leave the type out when it is BPE.
  const std::string_view type = string_or_empty(file.model, "type");
  if (type != "BPE" && file.model.contains("type")) {
    return file.error("model.type is '", type, "'; only BPE is supported");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!string_or_empty(file.model, key).empty()) {
      return file.error("model.", key, " is not supported");
    }
  }
  return {};
}

Result<AddedToken> read_added_token(const TokenizerJson& file, const json::value& item) {
  const json::object* token = item.if_object();
  const std::string_view name = token != nullptr ? string_or_empty(*token, "content") : "";
  const auto id = token != nullptr ? token_id(token->if_contains("id")) : std::nullopt;
  if (name.empty() || !id) {
    return file.error("each of added_tokens needs a content and an id from 0 to ", kMaxTokenId);
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

Result<std::vector<AddedToken>> read_added_tokens(const TokenizerJson& file) {
  std::vector<AddedToken> tokens;
  std::set<std::string> names;
  std::set<TokenId> ids;
  const json::value* list = file.root.if_contains("added_tokens");
  if (list == nullptr || list->is_null()) {
    return tokens;
  }
  if (!list->is_array()) {
    return file.error("added_tokens must be an array");
  }
  for (const json::value& item : list->get_array()) {
    ASSIGN_OR_RETURN(AddedToken token, read_added_token(file, item));
    if (!names.insert(token.name).second || !ids.insert(token.id).second) {
      return file.error("added token '", token.name, "', id ", token.id, ", stands there twice");
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<std::unique_ptr<Tokenizer>> read_tokenizer(TokenizerJson& file, const json::object* config) {
  RETURN_IF_ERROR(check_model(file));
  ASSIGN_OR_RETURN(file.added_tokens, read_added_tokens(file));
  ASSIGN_OR_RETURN(PromptFrame frame, read_prompt_frame(file, config));
  if (!is_byte_level(file)) {
    ASSIGN_OR_RETURN(PieceModelAndPrefix pieces, read_piece_model(file));
    return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
        std::move(pieces.model), std::move(file.added_tokens), std::move(frame), pieces.adds_blank
    ));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<const BpeModel> model, read_byte_level_model(file));
  // The file ends at 200018: with the ids behind, it is the same tokenizer as the built-in one.
  complete_o200k_harmony(file.added_tokens);
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(
      std::move(model), std::move(file.added_tokens), std::move(frame)
  ));
}

Result<json::value> parse_file(std::string_view text, const std::string& what) {
  Result<json::value> document = parse_json(text, what);
  if (!document) {
    return bad_file(std::move(document).error().message);
  }
  if (!document->is_object()) {
    return bad_file(what + ": expected an object, found " + std::string(json_kind_name(*document)));
  }
  return document;
}

Result<std::unique_ptr<Tokenizer>> parse(
    std::string_view text, const std::string& what, const json::object* config
) {
  ASSIGN_OR_RETURN(const json::value document, parse_file(text, what));
  const json::object* model = find_object(document.get_object(), "model");
  if (model == nullptr) {
    return bad_file(what + ": model must be an object");
  }
  TokenizerJson file{what, document.get_object(), *model, {}};
  return read_tokenizer(file, config);
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

Result<std::unique_ptr<Tokenizer>> load_tokenizer_json(
    const std::string& path, const std::string& config_path
) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  if (config_path.empty()) {
    return parse(text, path, nullptr);
  }
  ASSIGN_OR_RETURN(const std::string config_text, read_file(config_path));
  ASSIGN_OR_RETURN(const json::value config, parse_file(config_text, config_path));
  return parse(text, path, &config.get_object());
}

Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(
    std::string_view text, const std::string& what
) {
  return parse(text, what, nullptr);
}

}  // namespace rapt
