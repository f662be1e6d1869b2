#include "app/tokenizer_source.h"

#include <filesystem>
#include <system_error>

#include "app/loaded_model.h"
#include "checkpoint/checkpoint_dir.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

constexpr int kO200kHarmonySize = 201088;

bool is_file(const std::string& path) {
  std::error_code status;
  return fs::is_regular_file(path, status);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_model_tokenizer(
    const std::string& folder, const ModelInfo& info
) {
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(folder));
  if (const auto path = checkpoint.find_companion("tokenizer.json")) {
    return load_tokenizer_json(*path);
  }
  if (info.chat_format == "harmony" && info.vocab_size == kO200kHarmonySize) {
    return builtin_o200k_harmony();
  }
  return std::unique_ptr<Tokenizer>();
}

Result<std::unique_ptr<Tokenizer>> load_named_tokenizer(const std::string& name) {
  if (name == "o200k_harmony") {
    return builtin_o200k_harmony();
  }
  ASSIGN_OR_RETURN(const std::string path, find_model_folder(name, false));
  if (is_file(path)) {
    return load_tokenizer_json(path);
  }
  if (is_file(path + "/tokenizer.json")) {
    return load_tokenizer_json(path + "/tokenizer.json");
  }
  Result<std::unique_ptr<Model>> model = load_model(path);
  if (!model) {
    return bad_file(
        path + " holds no tokenizer.json, and no model whose tokenizer is built in: " +
        model.error().message
    );
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<Tokenizer> tokenizer, load_model_tokenizer(path, (*model)->info())
  );
  if (!tokenizer) {
    return bad_file(
        path + " holds no tokenizer.json, and its vocabulary of " +
        std::to_string((*model)->info().vocab_size) + " ids is not gpt-oss's, which is built in"
    );
  }
  return tokenizer;
}

}  // namespace rapt
