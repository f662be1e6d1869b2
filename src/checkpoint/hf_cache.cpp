#include "checkpoint/hf_cache.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "checkpoint/text_file.h"
#include "checkpoint/weight_files_internal.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMaxRefBytes = 4096;
constexpr std::string_view kRevision = "main";

bool exists(const std::string& path) {
  std::error_code status;
  return fs::exists(fs::status(path, status));
}

// "~/x" is what people write into these variables, and Hugging Face's library expands it.
std::string expand_home(const std::string& path, const HfCacheEnv& env) {
  if (path == "~" || path.starts_with("~/")) {
    return env.home + path.substr(1);
  }
  return path;
}

// "name" or "owner/name", as the hub allows them; "--" is what the cache writes for the slash.
bool is_hub_name(std::string_view model) {
  const bool has_bad_character = std::any_of(model.begin(), model.end(), [](char c) {
    const bool is_letter_or_digit =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return !is_letter_or_digit && c != '-' && c != '_' && c != '.' && c != '/';
  });
  return !model.empty() && !has_bad_character && std::count(model.begin(), model.end(), '/') <= 1 &&
         !model.starts_with('/') && !model.ends_with('/') && !model.starts_with('.') &&
         model.find("/.") == std::string_view::npos && model.find("..") == std::string_view::npos &&
         model.find("--") == std::string_view::npos;
}

std::string cache_folder_name(std::string_view model) {
  std::string name = "models--";
  for (const char c : model) {
    name += c == '/' ? std::string("--") : std::string(1, c);
  }
  return name;
}

std::string how_to_get(const std::string& model) {
  return "get it with `hf download " + model + "`, or give a folder that holds the model";
}

// The commit that refs/main names; nullopt when there is no such file.
Result<std::optional<std::string>> read_ref(const std::string& model_folder) {
  const std::string path = model_folder + "/refs/" + std::string(kRevision);
  if (!exists(path)) {
    return std::optional<std::string>();
  }
  ASSIGN_OR_RETURN(std::string commit, read_text_file(path, kMaxRefBytes));
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r' || commit.back() == ' ')
  ) {
    commit.pop_back();
  }
  const bool is_plain = std::all_of(commit.begin(), commit.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (commit.empty() || !is_plain) {
    return bad_file(path + " does not hold a commit: expected letters and digits only");
  }
  return std::optional<std::string>(std::move(commit));
}

std::vector<std::string> list_snapshots(const std::string& model_folder) {
  std::vector<std::string> names;
  std::error_code status;
  fs::directory_iterator entry(model_folder + "/snapshots", status);
  while (!status && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(status);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> find_snapshot(
    const std::string& model, const std::string& model_folder, bool needs_weights
) {
  ASSIGN_OR_RETURN(const std::optional<std::string> commit, read_ref(model_folder));
  std::string chosen;
  if (commit) {
    chosen = *commit;
  } else {
    const std::vector<std::string> snapshots = list_snapshots(model_folder);
    if (snapshots.size() > 1) {
      return bad_file(
          model_folder + " has no refs/" + std::string(kRevision) + " and " +
          std::to_string(snapshots.size()) +
          " snapshots, so it does not say which to use; give the folder of one of them"
      );
    }
    chosen = snapshots.empty() ? std::string() : snapshots.front();
  }
  const std::string snapshot = model_folder + "/snapshots/" + chosen;
  if (chosen.empty() || !exists(snapshot) || (needs_weights && !has_weight_files(snapshot))) {
    return not_found(
        model + " is in the Hugging Face cache (" + model_folder +
        "), but without its weights: the download is not complete; " + how_to_get(model)
    );
  }
  return snapshot;
}

}  // namespace

std::string hf_hub_folder(const HfCacheEnv& env) {
  if (!env.hf_hub_cache.empty()) {
    return expand_home(env.hf_hub_cache, env);
  }
  if (!env.hf_home.empty()) {
    return expand_home(env.hf_home, env) + "/hub";
  }
  if (!env.xdg_cache_home.empty()) {
    return expand_home(env.xdg_cache_home, env) + "/huggingface/hub";
  }
  return env.home.empty() ? std::string() : env.home + "/.cache/huggingface/hub";
}

Result<std::string> resolve_model_path(
    const std::string& model, const HfCacheEnv& env, bool needs_weights
) {
  if (model.empty()) {
    return invalid_argument(
        "no model was named; give a folder, or a name such as openai/gpt-oss-20b"
    );
  }
  std::error_code status;
  if (fs::exists(fs::symlink_status(model, status))) {
    return model;
  }
  if (!is_hub_name(model)) {
    return not_found(
        model + " does not exist; give a folder that holds a model, or the name of one in the " +
        "Hugging Face cache, such as openai/gpt-oss-20b"
    );
  }
  const std::string hub = hf_hub_folder(env);
  if (hub.empty()) {
    return not_found(
        model + " is not a folder, and there is no Hugging Face cache to look it up in: none of " +
        "HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME is set"
    );
  }
  const std::string model_folder = hub + "/" + cache_folder_name(model);
  if (!exists(model_folder)) {
    return not_found(
        model + " is neither a folder nor in the Hugging Face cache (looked for " + model_folder +
        "); " + how_to_get(model)
    );
  }
  return find_snapshot(model, model_folder, needs_weights);
}

}  // namespace rapt
