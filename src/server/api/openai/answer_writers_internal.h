#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/api/engine_call_internal.h"
#include "server/api/openai/answer_parts_internal.h"

namespace rapt::openai {

// chat.completion and chat.completion.chunk objects.
std::unique_ptr<AnswerWriter> make_chat_writer(AnswerOptions options, bool include_reasoning);

// text_completion objects. `echoes` holds, for each prompt, the text that its answers begin with;
// empty when nothing is echoed.
std::unique_ptr<AnswerWriter> make_completion_writer(
    AnswerOptions options, std::vector<std::string> echoes
);

}  // namespace rapt::openai
