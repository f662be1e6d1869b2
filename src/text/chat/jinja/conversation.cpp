#include <algorithm>
#include <map>
#include <string_view>

#include "base/json.h"
#include "text/chat/call_id_internal.h"
#include "text/chat/jinja/conversation_internal.h"
#include "text/chat/jinja/json_text_internal.h"

namespace rapt::jinja {

namespace {

Value data(std::string text) {
  return Value::text(std::move(text), Origin::kData);
}

std::string role_name(ChatRole role, const TemplateTraits& traits) {
  switch (role) {
    case ChatRole::kSystem:
      return "system";
    case ChatRole::kDeveloper:
      return traits.knows_developer ? "developer" : "system";
    case ChatRole::kUser:
      return "user";
    case ChatRole::kAssistant:
      return "assistant";
    case ChatRole::kTool:
      return "tool";
  }
  return "user";
}

Value content_of(const ChatMessage& message, const TemplateTraits& traits) {
  Value text = data(message.content);
  if (!traits.content_is_list) {
    return text;
  }
  Dict part;
  part.put("type", Value::text("text"));
  part.put("text", std::move(text));
  return Value::list({Value::dict(std::move(part))});
}

// Clients keep the ids that another model gave; the same id becomes the same code wherever it
// stands.
std::string call_id(const std::string& id, const TemplateTraits& traits) {
  constexpr int kShortSize = 9;
  const bool is_short =
      id.size() == kShortSize && std::ranges::all_of(id, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      });
  return !traits.wants_short_call_ids || is_short ? id : make_call_code(id, 0, kShortSize);
}

// The arguments as the dict that they stand for, where they do.
Value arguments_of(const ToolCall& call, const TemplateTraits& traits) {
  if (!traits.arguments_are_text) {
    const Result<json::value> parsed = parse_json(call.arguments, "the arguments");
    if (parsed && parsed->is_object()) {
      return value_of(*parsed, Origin::kData);
    }
  }
  return data(call.arguments);
}

Value call_value_of(const ToolCall& call, const TemplateTraits& traits) {
  Dict function;
  function.put("name", data(call.name));
  function.put("arguments", arguments_of(call, traits));
  Dict made;
  made.put("id", data(call_id(call.id, traits)));
  made.put("type", Value::text("function"));
  made.put("function", Value::dict(std::move(function)));
  return Value::dict(std::move(made));
}

// The names of the tools that were called last under an id.
using CalledTools = std::map<std::string_view, std::string_view>;

void add_calls(CalledTools& called, const ChatMessage& message) {
  // The first of a message counts.
  for (auto call = message.tool_calls.rbegin(); call != message.tool_calls.rend(); ++call) {
    called[call->id] = call->name;
  }
}

// The tool whose call `message` answers, which some templates want to know and few clients say.
std::string answered_tool(const CalledTools& called, const ChatMessage& message) {
  const auto found = called.find(message.tool_call_id);
  return found == called.end() ? std::string() : std::string(found->second);
}

// Keys are left out rather than none: most templates ask whether they are there.
Value message_value(
    const CalledTools& called, const ChatMessage& message, const TemplateTraits& traits
) {
  Dict made;
  made.put("role", Value::text(role_name(message.role, traits)));
  made.put("content", content_of(message, traits));
  const bool is_nameless_answer = message.role == ChatRole::kTool && message.name.empty();
  const std::string name = is_nameless_answer ? answered_tool(called, message) : message.name;
  if (!name.empty()) {
    made.put("name", data(name));
  }
  if (message.reasoning) {
    made.put("reasoning_content", data(*message.reasoning));
    made.put("thinking", data(*message.reasoning));
  }
  if (!message.tool_calls.empty()) {
    std::vector<Value> calls;
    for (const ToolCall& call : message.tool_calls) {
      calls.push_back(call_value_of(call, traits));
    }
    made.put("tool_calls", Value::list(std::move(calls)));
  }
  if (!message.tool_call_id.empty()) {
    made.put("tool_call_id", data(call_id(message.tool_call_id, traits)));
  }
  return Value::dict(std::move(made));
}

Value tool_value(const ToolDeclaration& tool) {
  Dict function;
  function.put("name", data(tool.name));
  function.put("description", data(tool.description.value_or("")));
  if (tool.parameters) {
    function.put("parameters", value_of(*tool.parameters, Origin::kData));
  }
  Dict made;
  made.put("type", Value::text("function"));
  made.put("function", Value::dict(std::move(function)));
  return Value::dict(std::move(made));
}

}  // namespace

bool shows_tools(const ChatOptions& options) {
  return !options.tools.empty() && options.tool_choice.kind != ToolChoice::Kind::kNone;
}

Dict template_variables(
    std::span<const ChatMessage> messages,
    const ChatOptions& options,
    const ChatTemplates& templates,
    const TemplateTraits& traits,
    bool add_generation_prompt
) {
  Dict variables;
  for (const auto& [name, text] : templates.special_tokens) {
    variables.put(name, Value::text(text));
  }
  for (const auto& [name, value] : options.template_kwargs) {
    variables.put(std::string(name), value_of(value, Origin::kData));
  }
  std::vector<Value> turns;
  CalledTools called;
  for (const ChatMessage& message : messages) {
    turns.push_back(message_value(called, message, traits));
    add_calls(called, message);
  }
  variables.put("messages", Value::list(std::move(turns)));
  std::vector<Value> tools;
  if (shows_tools(options)) {
    std::ranges::transform(options.tools, std::back_inserter(tools), tool_value);
  }
  variables.put("tools", tools.empty() ? Value::none() : Value::list(std::move(tools)));
  variables.put(
      "documents", options.documents ? value_of(*options.documents, Origin::kData) : Value::none()
  );
  variables.put("add_generation_prompt", Value::boolean(add_generation_prompt));
  return variables;
}

}  // namespace rapt::jinja
