#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "server/api/openai/chat_prompt_internal.h"
#include "server/ops/metrics_internal.h"
#include "text/chat/chat_format.h"

namespace rapt::openai {

namespace {

std::string todays_date() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return {text, size};
}

// The format counts the tools that it was given, the client those that it sent.
std::string with_places_of_tools(std::string_view text, const std::vector<std::size_t>& places) {
  constexpr std::string_view kMark = "tools[";
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find(kMark), text.size());
    const std::size_t digits = std::min(begin + kMark.size(), text.size());
    out += text.substr(0, digits);
    text.remove_prefix(digits);
    std::size_t tool_idx = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), tool_idx);
    if (status == std::errc() && tool_idx < places.size()) {
      out += std::to_string(places[tool_idx]);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
  }
  return out;
}

Error named_as_sent(Error error, const ChatCompletionRequest& chat) {
  if (error.param.empty()) {
    error.param = "messages";
  } else if (error.param.starts_with("tools[")) {
    error.param = with_places_of_tools(error.param, chat.tool_places);
    error.message = with_places_of_tools(error.message, chat.tool_places);
  }
  return error;
}

}  // namespace

Result<ChatPrompt> make_chat_prompt(ApiContext& context, const json::value& body) {
  ChatPrompt prompt;
  ASSIGN_OR_RETURN(prompt.chat, parse_chat_request(body, context.config.sampling));
  ChatCompletionRequest& chat = prompt.chat;
  ASSIGN_OR_RETURN(chat.params.model, resolve_model(context, chat.params.model));
  for (const std::string& field : chat.ignored_fields) {
    context.metrics.count_ignored_field(field);
  }
  if (context.chat_format == nullptr || context.tokenizer == nullptr) {
    return invalid_argument(
        "This model has no chat format here; use /v1/completions instead.", "messages"
    );
  }
  if (!chat.options.conversation_date) {
    chat.options.conversation_date =
        context.config.conversation_date ? *context.config.conversation_date : todays_date();
  }
  Result<std::vector<TokenId>> ids = context.chat_format->render(chat.messages, chat.options);
  if (!ids) {
    return named_as_sent(std::move(ids).error(), chat);
  }
  prompt.ids = std::move(ids).value();
  return prompt;
}

}  // namespace rapt::openai
