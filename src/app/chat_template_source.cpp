#include "app/chat_template_source.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/text_file.h"

namespace rapt {

namespace {

Result<ChatTemplates> read_gguf(const GgufMetadata& metadata, const Tokenizer& tokenizer) {
  constexpr std::string_view kTemplateKey = "tokenizer.chat_template";
  constexpr auto kSpecialTokens = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"tokenizer.ggml.bos_token_id", "bos_token"},
      {"tokenizer.ggml.eos_token_id", "eos_token"},
      {"tokenizer.ggml.unknown_token_id", "unk_token"},
      {"tokenizer.ggml.padding_token_id", "pad_token"},
  });
  ChatTemplates templates;
  templates.what = metadata.what();
  if (metadata.has(kTemplateKey)) {
    ASSIGN_OR_RETURN(templates.standard, metadata.text(kTemplateKey));
  }
  const std::string tool_use_key = std::string(kTemplateKey) + ".tool_use";
  if (metadata.has(tool_use_key)) {
    ASSIGN_OR_RETURN(templates.tool_use, metadata.text(tool_use_key));
  }
  for (const auto& [key, name] : kSpecialTokens) {
    if (metadata.has(key)) {
      ASSIGN_OR_RETURN(const std::int64_t id, metadata.token_id(key));
      if (id >= 0 && id < tokenizer.vocab_size()) {
        templates.special_tokens.emplace_back(
            name, tokenizer.token_bytes(static_cast<TokenId>(id))
        );
      } else if (id != -1) {  // none
        LOG_WARNING(
            "a special token is outside the vocabulary: the chat template goes without it",
            kv("file", metadata.what()),
            kv("key", key),
            kv("id", id),
            kv("tokens", tokenizer.vocab_size())
        );
      }
    }
  }
  return templates;
}

// Templates have files of their own in newer checkpoints, which win over tokenizer_config.json.
Result<ChatTemplates> read_companions(const CheckpointDir& checkpoint) {
  ChatTemplates templates;
  templates.what = checkpoint.path();
  if (const auto path = checkpoint.find_companion("tokenizer_config.json")) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(*path));
    ASSIGN_OR_RETURN(templates, read_tokenizer_config(text, *path));
  }
  if (const auto path = checkpoint.find_companion("chat_template.json")) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(*path));
    ASSIGN_OR_RETURN(ChatTemplates own, read_tokenizer_config(text, *path));
    templates.what = *path;
    templates.standard = std::move(own.standard);
  }
  if (const auto path = checkpoint.find_companion("chat_template.jinja")) {
    ASSIGN_OR_RETURN(templates.standard, read_text_file(*path));
    templates.what = *path;
  }
  if (const auto path = checkpoint.find_companion("additional_chat_templates/tool_use.jinja")) {
    ASSIGN_OR_RETURN(templates.tool_use, read_text_file(*path));
  }
  return templates;
}

}  // namespace

Result<ChatTemplates> load_chat_templates(
    const std::string& path, const Tokenizer& tokenizer, const std::string& replacement
) {
  ASSIGN_OR_RETURN(const CheckpointDir checkpoint, CheckpointDir::open(path));
  ASSIGN_OR_RETURN(
      ChatTemplates templates,
      checkpoint.gguf() != nullptr ? read_gguf(*checkpoint.gguf(), tokenizer)
                                   : read_companions(checkpoint)
  );
  if (!replacement.empty()) {
    ASSIGN_OR_RETURN(templates.standard, read_text_file(replacement));
    templates.tool_use.reset();
    templates.what = replacement;
  }
  return templates;
}

}  // namespace rapt
