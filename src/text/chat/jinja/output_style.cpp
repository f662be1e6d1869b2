#include <string>

#include "text/chat/jinja/output_style_internal.h"

namespace rapt::jinja {

namespace {

constexpr std::string_view kThinkBegin = "<think>";
constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kCallBegin = "<tool_call>";
constexpr std::string_view kCallEnd = "</tool_call>";
constexpr std::string_view kCalls = "[TOOL_CALLS]";
constexpr std::string_view kArguments = "[ARGS]";
constexpr std::string_view kPythonTag = "<|python_tag|>";

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace

OutputStyle style_of_template(std::string_view source) {
  OutputStyle style;
  style.has_thinking = holds(source, kThinkEnd);
  if (holds(source, kCalls)) {
    style.calls = CallStyle::kMistral;
  } else if (holds(source, kCallBegin) && !holds(source, "<function=")) {
    style.calls = CallStyle::kTagged;
  } else if (holds(source, kPythonTag) ||
             (holds(source, "<|start_header_id|>") && holds(source, "tools"))) {
    style.calls = CallStyle::kBareJson;
  }
  return style;
}

StyleTags tags_of(const OutputStyle& style, bool has_tools, const Tokenizer& tokenizer) {
  StyleTags made;
  const auto add = [&](TagName name, std::string_view text) {
    made.tags.push_back(make_tag(tokenizer, std::string(text)));
    made.names.push_back(name);
  };
  if (style.has_thinking) {
    add(TagName::kThinkBegin, kThinkBegin);
    add(TagName::kThinkEnd, kThinkEnd);
  }
  if (!has_tools) {
    return made;
  }
  switch (style.calls) {
    case CallStyle::kNone:
      break;
    case CallStyle::kTagged:
      add(TagName::kCallBegin, kCallBegin);
      add(TagName::kCallEnd, kCallEnd);
      break;
    case CallStyle::kMistral:
      add(TagName::kCalls, kCalls);
      add(TagName::kArguments, kArguments);
      break;
    case CallStyle::kBareJson:
      add(TagName::kPythonTag, kPythonTag);
      break;
  }
  return made;
}

}  // namespace rapt::jinja
