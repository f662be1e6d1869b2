#include "text/chat/jinja/probe_internal.h"

namespace rapt::jinja {

namespace {

constexpr std::string_view kQuestion = "Zebra question";
constexpr std::string_view kAnswer = "Yak answer";
constexpr std::string_view kArgument = "Wombat argument";
// The conversations are small: what takes longer than this is no template that can be used.
constexpr Limits kProbeLimits = {.max_steps = 1'000'000};
constexpr const char* kProbeDate = "2025-01-01";

ChatMessage said(ChatRole role, std::string_view content) {
  ChatMessage message;
  message.role = role;
  message.content = content;
  return message;
}

class Probe {
 public:
  Probe(const Template& compiled, const ChatTemplates& templates, const ChatOptions& options)
      : compiled_(compiled), templates_(templates), options_(options) {}

  std::optional<MarkedText> render(
      const std::vector<ChatMessage>& messages, const TemplateTraits& traits, bool prompts
  ) const {
    Result<MarkedText> text = compiled_.render(
        template_variables(messages, options_, templates_, traits, prompts),
        {.date = options_.conversation_date.value_or(kProbeDate), .limits = kProbeLimits}
    );
    return text ? std::optional<MarkedText>(std::move(text).value()) : std::nullopt;
  }

  bool shows(
      const std::vector<ChatMessage>& messages, const TemplateTraits& traits, std::string_view words
  ) const {
    const std::optional<MarkedText> text = render(messages, traits, true);
    return text && text->bytes().find(words) != std::string::npos;
  }

 private:
  const Template& compiled_;
  const ChatTemplates& templates_;
  const ChatOptions& options_;
};

// A question, a call of a tool, its result.
std::vector<ChatMessage> conversation_with_call(const std::string& id) {
  std::vector<ChatMessage> messages = {
      said(ChatRole::kUser, kQuestion),
      said(ChatRole::kAssistant, ""),
      said(ChatRole::kTool, "result"),
  };
  messages[1].tool_calls = {{id, "f", "{\"a\": \"" + std::string(kArgument) + "\"}"}};
  messages[2].tool_call_id = id;
  messages.push_back(said(ChatRole::kAssistant, kAnswer));
  messages.push_back(said(ChatRole::kUser, kQuestion));
  return messages;
}

ChatOptions options_with_tool() {
  ChatOptions options;
  options.tools = {{"f", "does", json::object{{"type", "object"}, {"properties", json::object()}}}};
  return options;
}

}  // namespace

TemplateTraits probe_traits(const Template& compiled, const ChatTemplates& templates) {
  TemplateTraits traits;
  const ChatOptions plain;
  const Probe talk(compiled, templates, plain);
  const std::vector<ChatMessage> question = {said(ChatRole::kUser, kQuestion)};
  if (!talk.shows(question, traits, kQuestion)) {
    traits.content_is_list = true;
    traits.content_is_list = talk.shows(question, traits, kQuestion);
  }
  const ChatOptions tooled = options_with_tool();
  const Probe tools(compiled, templates, tooled);
  const std::string long_id = "call_0123456789abcdef";
  for (const bool shortens : {false, true}) {
    for (const bool as_text : {false, true}) {
      TemplateTraits tried = traits;
      tried.wants_short_call_ids = shortens;
      tried.arguments_are_text = as_text;
      if (tools.shows(conversation_with_call(long_id), tried, kArgument)) {
        return tried;
      }
    }
  }
  return traits;
}

std::optional<TokenId> probe_end_of_turn(
    const Template& compiled,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    const Tokenizer& tokenizer
) {
  const ChatOptions plain;
  const std::vector<ChatMessage> messages = {
      said(ChatRole::kUser, kQuestion),
      said(ChatRole::kAssistant, kAnswer),
      said(ChatRole::kUser, kQuestion),
  };
  const std::optional<MarkedText> text =
      Probe(compiled, templates, plain).render(messages, traits, false);
  const std::size_t answer = text ? text->bytes().find(kAnswer) : std::string::npos;
  if (answer == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t begin = answer + kAnswer.size();
  const std::size_t end = text->bytes().find(kQuestion, begin);
  const std::string between = text->bytes().substr(begin, end - begin);
  for (const TokenId id : tokenizer.encode_with_special(between)) {
    if (tokenizer.is_special(id)) {
      return id;
    }
  }
  return std::nullopt;
}

bool opens_thinking(
    const Template& compiled,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    const ChatOptions& options
) {
  const std::optional<MarkedText> text =
      Probe(compiled, templates, options).render({said(ChatRole::kUser, kQuestion)}, traits, true);
  if (!text) {
    return false;
  }
  const std::string_view bytes = text->bytes();
  const std::size_t question = bytes.rfind(kQuestion);
  const std::string_view tail = question == std::string_view::npos ? bytes : bytes.substr(question);
  const std::size_t opened = tail.rfind("<think>");
  return opened != std::string_view::npos &&
         tail.find("</think>", opened) == std::string_view::npos;
}

}  // namespace rapt::jinja
