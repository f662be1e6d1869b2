#include "text/chat/chat_format.h"

#include "text/chat/harmony/harmony_format_internal.h"

namespace rapt {

Result<std::unique_ptr<ChatFormat>> make_chat_format(
    std::string_view name, const Tokenizer& tokenizer
) {
  if (name == "harmony") {
    return make_harmony_format(tokenizer);
  }
  return invalid_argument("there is no chat format '" + std::string(name) + "'; known: harmony");
}

}  // namespace rapt
