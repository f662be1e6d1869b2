#include "server/api/openai/chat_request_internal.h"
#include "server/api/openai/tool_fields_internal.h"

namespace rapt::openai {

namespace {

// The text of one part of a list-valued content.
std::optional<std::string> read_part(
    const json::value& item, const std::string& path, Error& error
) {
  if (!item.is_object()) {
    error = Error{
        ErrorCode::kInvalidArgument,
        path + " must be an object, but is " + std::string(json_kind_name(item)) + ".",
        path,
        "invalid_type"};
    return std::nullopt;
  }
  FieldReader part(item.get_object(), path + ".");
  const std::optional<std::string> type = part.text("type");
  if (part.ok() && !type) {
    part.fail("type", part.path_of("type") + " is missing.", "invalid_value");
  }
  std::optional<std::string> text;
  if (part.ok()) {
    if (*type == "text" || *type == "input_text" || *type == "output_text") {
      text = part.text("text");
      if (part.ok() && !text) {
        part.fail("text", part.path_of("text") + " is missing.", "invalid_value");
      }
    } else if (*type == "refusal") {
      text = part.text("refusal").value_or("");
    } else {
      part.fail(
          "type",
          part.path_of("type") + " " + shown(json::value(*type)) +
              " is not supported: this model reads text only.",
          "invalid_value"
      );
    }
  }
  if (!part.ok()) {
    error = part.error();
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> read_content(FieldReader& fields) {
  const json::value* content = fields.find("content");
  if (content == nullptr) {
    return std::nullopt;
  }
  if (content->is_string()) {
    return std::string(content->get_string());
  }
  if (!content->is_array()) {
    fields.wrong_kind("content", "a string or an array of parts", *content);
    return std::nullopt;
  }
  std::string joined;
  std::size_t part_idx = 0;
  for (const json::value& item : content->get_array()) {
    Error error;
    const std::string path = fields.path_of("content") + "[" + std::to_string(part_idx) + "]";
    const std::optional<std::string> text = read_part(item, path, error);
    if (!text) {
      fields.fail(std::move(error));
      return std::nullopt;
    }
    joined += *text;
    ++part_idx;
  }
  return joined;
}

std::optional<ChatRole> read_role(FieldReader& fields) {
  const std::optional<std::string> role = fields.text("role");
  if (!fields.ok()) {
    return std::nullopt;
  }
  if (!role) {
    fields.fail("role", fields.path_of("role") + " is missing.", "invalid_value");
    return std::nullopt;
  }
  if (*role == "system") {
    return ChatRole::kSystem;
  }
  if (*role == "developer") {
    return ChatRole::kDeveloper;
  }
  if (*role == "user") {
    return ChatRole::kUser;
  }
  if (*role == "assistant") {
    return ChatRole::kAssistant;
  }
  if (*role == "tool") {
    return ChatRole::kTool;
  }
  if (*role == "function") {
    fields.fail(
        "role",
        fields.path_of("role") + " \"function\" is not supported: send results as \"tool\".",
        "unsupported_parameter"
    );
    return std::nullopt;
  }
  fields.fail(
      "role",
      fields.path_of("role") + " must be system, developer, user, assistant or tool, but is " +
          shown(json::value(*role)) + ".",
      "invalid_value"
  );
  return std::nullopt;
}

void read_assistant_fields(FieldReader& fields, ChatMessage& message) {
  // Several names for one thing: clients send back what they were given, here or elsewhere.
  for (const char* name : {"reasoning", "reasoning_content", "thinking"}) {
    std::optional<std::string> reasoning = fields.text(name);
    if (!message.reasoning) {
      message.reasoning = std::move(reasoning);
    }
  }
  message.tool_calls = read_tool_calls(fields);
}

}  // namespace

Result<ChatMessage> parse_chat_message(const json::value& item, const std::string& path) {
  if (!item.is_object()) {
    const std::string where = path.substr(0, path.size() - 1);
    return Error{
        ErrorCode::kInvalidArgument,
        where + " must be an object, but is " + std::string(json_kind_name(item)) + ".",
        where,
        "invalid_type"};
  }
  FieldReader fields(item.get_object(), path);
  ChatMessage message;
  const std::optional<ChatRole> role = read_role(fields);
  message.role = role.value_or(ChatRole::kUser);
  const std::optional<std::string> content = read_content(fields);
  message.content = content.value_or("");
  message.name = fields.text("name").value_or("");
  const bool is_assistant = message.role == ChatRole::kAssistant;
  if (is_assistant) {
    read_assistant_fields(fields, message);
  } else if (message.role == ChatRole::kTool) {
    message.tool_call_id = fields.text("tool_call_id").value_or("");
  }
  // An assistant's turn may be thinking or calls only; every other one says something.
  if (!content && !is_assistant) {
    const bool is_null = item.get_object().contains("content");
    fields.fail(
        "content",
        fields.path_of("content") +
            (is_null ? " must be a string or an array of parts; only an assistant's may be null."
                     : " is missing."),
        "invalid_value"
    );
  }
  if (!fields.ok()) {
    return fields.error();
  }
  return message;
}

}  // namespace rapt::openai
