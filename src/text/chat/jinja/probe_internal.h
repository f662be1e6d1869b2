#pragma once

#include <optional>
#include <vector>

#include "text/chat/jinja/conversation_internal.h"
#include "text/chat/jinja/template_internal.h"
#include "text/tokenizer.h"

// Finding out about a template by giving it small conversations: what nobody writes down anywhere.

namespace rapt::jinja {

TemplateTraits probe_traits(const Template& compiled, const ChatTemplates& templates);

// The special token that the template puts behind what an assistant says, if it does.
std::optional<TokenId> probe_end_of_turn(
    const Template& compiled,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    const Tokenizer& tokenizer
);

// Whether the prompt itself opens the tag for thinking, so that the answer begins inside it.
bool opens_thinking(
    const Template& compiled,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    const ChatOptions& options
);

}  // namespace rapt::jinja
