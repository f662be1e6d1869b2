#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/chat/harmony/harmony_strict_parser_internal.h"

namespace rapt {

// A header, with its control tokens spelled out, by the rules of OpenAI's library. `role` is known
// when it stood in the prompt. The content of the result is empty.
Result<HarmonyParsedMessage> parse_harmony_header_strictly(
    std::string text, std::optional<HarmonyRole> role
);

}  // namespace rapt
