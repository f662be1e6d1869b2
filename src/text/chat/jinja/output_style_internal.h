#pragma once

#include <string_view>
#include <vector>

#include "text/chat/jinja/tag_scanner_internal.h"

namespace rapt::jinja {

// How a model writes calls of tools.
enum class CallStyle {
  kNone,
  kTagged,    // <tool_call>{"name": ..., "arguments": {...}}</tool_call>: Hermes, Qwen, SmolLM
  kMistral,   // [TOOL_CALLS][{"name": ..., "arguments": {...}}, ...] or [TOOL_CALLS]name[ARGS]{...}
  kBareJson,  // {"name": ..., "parameters": {...}} and nothing else: Llama 3
};

// How a model's output is to be read, beside plain text.
struct OutputStyle {
  bool has_thinking = false;  // <think> ... </think>
  CallStyle calls = CallStyle::kNone;
};

// What the words in a template tell about the model's output.
OutputStyle style_of_template(std::string_view source);

// The tags that part such output, in the order of these names.
enum class TagName { kThinkBegin, kThinkEnd, kCallBegin, kCallEnd, kCalls, kArguments, kPythonTag };

struct StyleTags {
  std::vector<Tag> tags;
  std::vector<TagName> names;  // of each
};

// Tags of calls are left out where there are no tools: then they are text as any other.
StyleTags tags_of(const OutputStyle& style, bool has_tools, const Tokenizer& tokenizer);

}  // namespace rapt::jinja
