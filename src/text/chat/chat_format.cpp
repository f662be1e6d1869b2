#include "text/chat/chat_format.h"

#include "text/chat/harmony/harmony_format_internal.h"
#include "text/chat/jinja/jinja_format_internal.h"

namespace rapt {

Result<std::unique_ptr<ChatFormat>> make_chat_format(
    std::string_view name, const Tokenizer& tokenizer, const ChatTemplates& templates
) {
  if (name == "harmony") {
    return make_harmony_format(tokenizer);
  }
  if (name == "jinja") {
    return jinja::make_jinja_format(tokenizer, templates);
  }
  return invalid_argument(
      "there is no chat format '" + std::string(name) + "'; known: harmony, jinja"
  );
}

}  // namespace rapt
