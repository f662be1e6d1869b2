#include <utility>

#include "text/known_patterns_internal.h"
#include "text/tokenizer_json_internal.h"

namespace rapt {

namespace {

Result<std::vector<std::string_view>> read_tokens(
    const TokenizerJson& file, const json::object& vocab
) {
  std::vector<std::string_view> tokens;
  for (const auto& member : vocab) {
    const std::string_view key = member.key();
    const auto id = token_id(&member.value());
    if (!id) {
      return file.error("model.vocab gives '", key, "' no id from 0 to ", kMaxTokenId);
    }
    const auto index = static_cast<std::size_t>(*id);
    if (index >= tokens.size()) {
      tokens.resize(index + 1);
    }
    if (!tokens[index].empty()) {
      return file.error(
          "model.vocab gives the id ", *id, " to two tokens, one of them '", key, "'"
      );
    }
    if (key.empty()) {
      return file.error("model.vocab holds an empty token, id ", *id);
    }
    tokens[index] = key;
  }
  return tokens;
}

// A control token that stands in the vocabulary too must not be what plain text is made of.
Result<void> take_out_added(
    const TokenizerJson& file, const json::object& vocab, std::vector<std::string_view>& tokens
) {
  for (const AddedToken& added : file.added_tokens) {
    const auto index = static_cast<std::size_t>(added.id);
    const json::value* id = vocab.if_contains(added.name);
    if (id == nullptr) {
      if (index < tokens.size() && !tokens[index].empty()) {
        return file.error(
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
      return file.error(
          "added token '",
          added.name,
          "' has the id ",
          added.id,
          ", but model.vocab gives it ",
          id->get_int64()
      );
    }
    if (added.in_text == AddedToken::InText::kWhenAllowed) {
      tokens[index] = {};
    }
  }
  return {};
}

Result<std::pair<std::string_view, std::string_view>> read_pair(
    const TokenizerJson& file, const json::value& item, std::size_t index
) {
  std::pair<std::string_view, std::string_view> pair;
  if (const json::string* text = item.if_string()) {
    // The old form: both parts in one string. No part holds a blank: no alphabet has one.
    const std::string_view both(*text);
    const std::size_t blank = both.find(' ');
    pair.first = both.substr(0, blank);
    pair.second = blank != std::string_view::npos ? both.substr(blank + 1) : std::string_view();
  } else if (item.is_array() && item.get_array().size() == 2 && item.get_array()[0].is_string() &&
             item.get_array()[1].is_string()) {
    pair.first = item.get_array()[0].get_string();
    pair.second = item.get_array()[1].get_string();
  }
  if (pair.first.empty() || pair.second.empty()) {
    return file.error("model.merges[", index, "] is no pair of tokens");
  }
  return pair;
}

}  // namespace

Result<JsonBpe> read_bpe(const TokenizerJson& file) {
  const json::object* vocab = find_object(file.model, "vocab");
  if (vocab == nullptr || vocab->empty()) {
    return file.error("model.vocab must be an object that maps tokens to ids");
  }
  JsonBpe bpe;
  ASSIGN_OR_RETURN(bpe.tokens, read_tokens(file, *vocab));
  RETURN_IF_ERROR(take_out_added(file, *vocab, bpe.tokens));
  const json::array* list = find_array(file.model, "merges");
  if (list == nullptr) {
    return file.error("model.merges must be an array");
  }
  bpe.merges.reserve(list->size());
  for (const json::value& item : *list) {
    ASSIGN_OR_RETURN(const auto pair, read_pair(file, item, bpe.merges.size()));
    bpe.merges.push_back(pair);
  }
  return bpe;
}

Result<std::vector<MergeList::Merge>> resolve_merges(
    const TokenizerJson& file,
    const JsonBpe& bpe,
    const Vocabulary& vocabulary,
    std::optional<std::string> (*decode)(std::string_view name)
) {
  std::vector<MergeList::Merge> merges;
  merges.reserve(bpe.merges.size());
  for (const auto& [left, right] : bpe.merges) {
    const auto left_bytes = decode(left);
    const auto right_bytes = decode(right);
    const MergeList::Merge merge{
        left_bytes ? vocabulary.find(*left_bytes) : kNoToken,
        right_bytes ? vocabulary.find(*right_bytes) : kNoToken,
        left_bytes && right_bytes ? vocabulary.find(*left_bytes + *right_bytes) : kNoToken,
    };
    if (merge.left == kNoToken || merge.right == kNoToken || merge.joined == kNoToken) {
      return file.error(
          "model.merges[",
          merges.size(),
          "] joins '",
          left,
          "' and '",
          right,
          "', but these two or what they make are not all in model.vocab"
      );
    }
    merges.push_back(merge);
  }
  return merges;
}

}  // namespace rapt
