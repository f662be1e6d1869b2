#include <cstdio>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/json_lines.h"
#include "app/tokenizer_source.h"
#include "text/detokenizer.h"

namespace rapt {

namespace {

json::array ids_of(const Tokenizer& tokenizer, std::string_view text, bool allow_special) {
  const std::vector<TokenId> ids =
      allow_special ? tokenizer.encode_with_special(text) : tokenizer.encode(text);
  return json::array(ids.begin(), ids.end());
}

Result<std::vector<TokenId>> ids_from_json(const json::value& value) {
  const json::array* list = value.if_array();
  if (list == nullptr) {
    return invalid_argument(
        "expected a list of token ids, found " + std::string(json_kind_name(value))
    );
  }
  std::vector<TokenId> ids;
  ids.reserve(list->size());
  for (const json::value& item : *list) {
    if (!item.is_int64() || item.get_int64() < 0 || item.get_int64() > INT32_MAX) {
      return invalid_argument(to_json_text(item) + " is no token id");
    }
    ids.push_back(static_cast<TokenId>(item.get_int64()));
  }
  return ids;
}

// Special tokens appear by their names: who asks what ids mean wants to see all of them.
Result<std::string> text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  for (const TokenId id : ids) {
    if (tokenizer.token_bytes(id).empty()) {
      return invalid_argument(
          "the tokenizer has no token " + std::to_string(id) + "; its ids end at " +
          std::to_string(tokenizer.vocab_size() - 1)
      );
    }
  }
  return text_of_tokens(tokenizer, ids);
}

Result<void> print_value(const json::value& value) {
  std::string line = to_json_text(value);
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    return internal_error("cannot write to stdout");
  }
  return {};
}

Result<void> tokenize(const TokenizeOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, load_named_tokenizer(options.model));
  if (options.text.has_value()) {
    return print_value(ids_of(*tokenizer, *options.text, options.allow_special));
  }
  return answer_json_lines(stdin, stdout, [&](const json::value& line) -> Result<json::value> {
    const json::string* text = line.if_string();
    if (text == nullptr) {
      return invalid_argument("expected a string, found " + std::string(json_kind_name(line)));
    }
    return json::value(ids_of(*tokenizer, *text, options.allow_special));
  });
}

Result<void> detokenize(const DetokenizeOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, load_named_tokenizer(options.model));
  if (options.token_ids.has_value()) {
    ASSIGN_OR_RETURN(const std::string text, text_of(*tokenizer, *options.token_ids));
    return print_value(json::value(text));
  }
  return answer_json_lines(stdin, stdout, [&](const json::value& line) -> Result<json::value> {
    ASSIGN_OR_RETURN(const std::vector<TokenId> ids, ids_from_json(line));
    ASSIGN_OR_RETURN(const std::string text, text_of(*tokenizer, ids));
    return json::value(text);
  });
}

}  // namespace

int tokenize_main(const TokenizeOptions& options) {
  const Result<void> result = tokenize(options);
  return result ? 0 : report_error(result.error());
}

int detokenize_main(const DetokenizeOptions& options) {
  const Result<void> result = detokenize(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
