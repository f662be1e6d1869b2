#include "app/tokenizer_source.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/loaded_model.h"
#include "checkpoint/checkpoint_dir.h"
#include "text/end_tokens.h"
#include "text/gguf_tokenizer.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

constexpr int kO200kHarmonySize = 201088;

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";

Result<void> read_flag(
    const GgufMetadata& metadata, std::string_view key, std::optional<bool>& value
) {
  if (metadata.has(key)) {
    ASSIGN_OR_RETURN(value, metadata.boolean_or(key, false));
  }
  return {};
}

Result<void> read_id(
    const GgufMetadata& metadata, std::string_view key, std::optional<std::int64_t>& value
) {
  if (metadata.has(key)) {
    ASSIGN_OR_RETURN(value, metadata.token_id(key));
  }
  return {};
}

Result<std::unique_ptr<Tokenizer>> load_gguf_tokenizer(const GgufMetadata& metadata) {
  GgufTokenizerParts parts;
  ASSIGN_OR_RETURN(parts.model, metadata.text("tokenizer.ggml.model"));
  if (metadata.has("tokenizer.ggml.pre")) {
    ASSIGN_OR_RETURN(parts.pre, metadata.text("tokenizer.ggml.pre"));
  }
  ASSIGN_OR_RETURN(parts.tokens, metadata.texts(kTokensKey));
  if (metadata.has("tokenizer.ggml.token_type")) {
    ASSIGN_OR_RETURN(parts.token_types, metadata.integers("tokenizer.ggml.token_type"));
  }
  if (metadata.has("tokenizer.ggml.merges")) {
    ASSIGN_OR_RETURN(parts.merges, metadata.texts("tokenizer.ggml.merges"));
  }
  if (metadata.has("tokenizer.ggml.scores")) {
    ASSIGN_OR_RETURN(parts.scores, metadata.numbers("tokenizer.ggml.scores"));
  }
  RETURN_IF_ERROR(read_flag(metadata, "tokenizer.ggml.add_bos_token", parts.add_bos));
  RETURN_IF_ERROR(read_flag(metadata, "tokenizer.ggml.add_eos_token", parts.add_eos));
  RETURN_IF_ERROR(read_flag(metadata, "tokenizer.ggml.add_space_prefix", parts.add_space_prefix));
  RETURN_IF_ERROR(read_id(metadata, "tokenizer.ggml.bos_token_id", parts.bos_id));
  RETURN_IF_ERROR(read_id(metadata, "tokenizer.ggml.eos_token_id", parts.eos_id));
  RETURN_IF_ERROR(read_id(metadata, "tokenizer.ggml.unknown_token_id", parts.unknown_id));
  return make_gguf_tokenizer(parts, metadata.what());
}

bool is_file(const std::string& path) {
  std::error_code status;
  return fs::is_regular_file(path, status);
}

// Null when there is no checkpoint at `path`, or not one in GGUF, or one without a tokenizer. A
// file that is called .gguf is meant to be one.
Result<std::unique_ptr<Tokenizer>> find_gguf_tokenizer(const std::string& path) {
  Result<CheckpointDir> checkpoint = CheckpointDir::open(path);
  if (!checkpoint && path.ends_with(".gguf")) {
    return std::move(checkpoint).error();
  }
  if (!checkpoint || checkpoint->gguf() == nullptr || !checkpoint->gguf()->has(kTokensKey)) {
    return std::unique_ptr<Tokenizer>();
  }
  return load_gguf_tokenizer(*checkpoint->gguf());
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_model_tokenizer(
    const std::string& path, const ModelInfo& info
) {
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(path));
  if (checkpoint.gguf() != nullptr && checkpoint.gguf()->has(kTokensKey)) {
    return load_gguf_tokenizer(*checkpoint.gguf());
  }
  if (const auto file = checkpoint.find_companion("tokenizer.json")) {
    return load_tokenizer_json(
        *file, checkpoint.find_companion("tokenizer_config.json").value_or("")
    );
  }
  if (info.chat_format == "harmony" && info.vocab_size == kO200kHarmonySize) {
    return builtin_o200k_harmony();
  }
  return std::unique_ptr<Tokenizer>();
}

Result<std::vector<TokenId>> find_unsaid_ends(
    const std::string& path, const ModelInfo& info, const Tokenizer& tokenizer
) {
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(path));
  if (checkpoint.gguf() == nullptr || info.chat_format == "harmony") {
    return std::vector<TokenId>();
  }
  std::vector<TokenId> ids;
  for (const TokenId id : named_end_tokens(tokenizer)) {
    if (id < info.vocab_size) {
      ids.push_back(id);
    }
  }
  return ids;
}

Result<std::unique_ptr<Tokenizer>> load_named_tokenizer(const std::string& name) {
  if (name == "o200k_harmony") {
    return builtin_o200k_harmony();
  }
  ASSIGN_OR_RETURN(const std::string path, find_model_folder(name, false));
  ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> from_gguf, find_gguf_tokenizer(path));
  if (from_gguf) {
    return from_gguf;
  }
  if (is_file(path)) {
    return load_tokenizer_json(path);
  }
  if (is_file(path + "/tokenizer.json")) {
    const std::string config_path = path + "/tokenizer_config.json";
    return load_tokenizer_json(path + "/tokenizer.json", is_file(config_path) ? config_path : "");
  }
  Result<std::unique_ptr<Model>> model = load_model(path);
  if (!model) {
    return bad_file(
        path +
        " holds no tokenizer, and no model whose tokenizer is built in: " + model.error().message
    );
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<Tokenizer> tokenizer, load_model_tokenizer(path, (*model)->info())
  );
  if (!tokenizer) {
    return bad_file(
        path + " holds no tokenizer, and its vocabulary of " +
        std::to_string((*model)->info().vocab_size) + " ids is not gpt-oss's, which is built in"
    );
  }
  return tokenizer;
}

}  // namespace rapt
