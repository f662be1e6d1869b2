#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/chat/chat_message.h"
#include "text/chat/chat_templates.h"
#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

// How a template wants to have the things that templates disagree about.
struct TemplateTraits {
  bool content_is_list = false;       // [{"type": "text", "text": ...}] instead of a string
  bool arguments_are_text = false;    // JSON instead of a dict
  bool knows_developer = false;       // else such messages are the system's
  bool knows_effort = false;          // else it is not told how much to think
  bool wants_short_call_ids = false;  // nine letters and digits
};

// The variables of a template, under the names that Hugging Face's library gives them. What the
// client wrote is marked as data; roles, which are words of ours, and special tokens are not.
Dict template_variables(
    std::span<const ChatMessage> messages,
    const ChatOptions& options,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    bool add_generation_prompt
);

// Whether the prompt declares tools: not when the client forbids their use.
bool shows_tools(const ChatOptions& options);

}  // namespace rapt::jinja
