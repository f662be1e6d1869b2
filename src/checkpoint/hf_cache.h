#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rapt {

// The variables of the environment that say where Hugging Face's tools keep what they download.
// Only src/app reads the environment and fills this in; "" stands for unset.
struct HfCacheEnv {
  std::string hf_hub_cache;    // HF_HUB_CACHE: the hub folder itself
  std::string hf_home;         // HF_HOME: holds hub/
  std::string xdg_cache_home;  // XDG_CACHE_HOME: holds huggingface/hub/
  std::string home;            // HOME: holds .cache/huggingface/hub/
};

// The hub folder that these variables name; the first that is set wins, in the order above.
// "" when none is.
std::string hf_hub_folder(const HfCacheEnv& env);

// The folder of a model that a user names: a path that exists stays what it is; a name such as
// "openai/gpt-oss-20b" becomes the snapshot of its revision `main` in the local cache. Nothing is
// downloaded: the error of a model that is not there says where it was looked for and how to get
// it. A snapshot without weights is an error too where they are needed.
Result<std::string> resolve_model_path(
    const std::string& model, const HfCacheEnv& env, bool needs_weights = true
);

}  // namespace rapt
