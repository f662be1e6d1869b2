#include "models/architecture_internal.h"
#include "models/gpt_oss/gpt_oss.h"

namespace rapt {

std::span<const ArchitectureEntry> gpt_oss_architectures() {
  static constexpr ArchitectureEntry kEntries[] = {
      {.name = "GptOssForCausalLM",
       .gguf_names = "gpt-oss|gptoss",
       .is_original_layout = true,
       .load = load_gpt_oss,
       .attention_of_json = gpt_oss_attention_of_json,
       .attention_of_gguf = gpt_oss_attention_of_gguf},
  };
  return kEntries;
}

}  // namespace rapt
