#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "models/end_tokens_internal.h"

namespace rapt {

namespace {

constexpr std::int64_t kNone = -1;

Result<void> add_checked(
    const std::string& what,
    std::string_view name,
    std::span<const std::int64_t> found,
    std::int64_t vocab_size,
    std::vector<std::int32_t>& ids
) {
  for (const std::int64_t id : found) {
    if (id == kNone) {
      continue;
    }
    if (id < 0 || id >= vocab_size) {
      return bad_file(
          what + ": \"" + std::string(name) + "\" names token " + std::to_string(id) +
          ", but the vocabulary has " + std::to_string(vocab_size) +
          " tokens, so that answers would not end; expected an id below that, or -1 for none"
      );
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return {};
}

}  // namespace

Result<void> add_end_tokens(
    ConfigFields& fields, std::int64_t vocab_size, std::vector<std::int32_t>& ids
) {
  constexpr std::string_view kName = "eos_token_id";
  const json::value* value = fields.find(kName);
  if (value == nullptr) {
    return {};
  }
  std::vector<std::int64_t> found;
  const auto add = [&](const json::value& item) {
    if (item.is_int64()) {
      found.push_back(item.get_int64());
    }
    return item.is_int64();
  };
  const bool is_valid = value->is_array()
                            ? std::all_of(value->get_array().begin(), value->get_array().end(), add)
                            : add(*value);
  if (!is_valid) {
    return fields.field_error(kName, "expected a token id, or an array of token ids");
  }
  return add_checked(fields.what(), kName, found, vocab_size, ids);
}

Result<void> add_gguf_end_tokens(
    const GgufMetadata& metadata, std::int64_t vocab_size, std::vector<std::int32_t>& ids
) {
  for (const std::string_view key :
       {"tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    if (metadata.has(key)) {
      ASSIGN_OR_RETURN(const std::int64_t id, metadata.token_id(key));
      RETURN_IF_ERROR(add_checked(metadata.what(), key, std::span(&id, 1), vocab_size, ids));
    }
  }
  constexpr std::string_view kListKey = "tokenizer.ggml.eos_token_ids";
  if (metadata.has(kListKey)) {
    ASSIGN_OR_RETURN(const std::vector<std::int64_t> list, metadata.integers(kListKey));
    RETURN_IF_ERROR(add_checked(metadata.what(), kListKey, list, vocab_size, ids));
  }
  return {};
}

}  // namespace rapt
