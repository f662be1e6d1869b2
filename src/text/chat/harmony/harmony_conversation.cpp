#include <algorithm>
#include <utility>
#include <variant>

#include "text/chat/harmony/harmony_content_internal.h"
#include "text/chat/harmony/harmony_conversation_internal.h"

namespace rapt {

namespace {

using Part = std::variant<std::string, HarmonySystemContent, HarmonyDeveloperContent>;

// A message before its structured parts are written as text, which takes the whole conversation.
struct Draft {
  HarmonyMessage message;  // without its parts
  std::vector<Part> parts;
};

Error wrong_kind(const std::string& path, std::string_view wanted, const json::value& found) {
  return invalid_argument(
      path + " must be " + std::string(wanted) + ", but is " + std::string(json_kind_name(found))
  );
}

Result<const json::object*> as_object(const json::value& value, const std::string& path) {
  if (const json::object* object = value.if_object()) {
    return object;
  }
  return wrong_kind(path, "an object", value);
}

// The field, or null where it is absent or null.
const json::value* find_field(const json::object& object, std::string_view key) {
  const json::value* field = object.if_contains(key);
  return field == nullptr || field->is_null() ? nullptr : field;
}

Result<const json::array*> array_field(
    const json::object& object, std::string_view key, const std::string& path
) {
  const std::string field_path = path + "." + std::string(key);
  const json::value* field = find_field(object, key);
  if (field == nullptr) {
    return invalid_argument(field_path + " is missing; it must be an array");
  }
  if (const json::array* items = field->if_array()) {
    return items;
  }
  return wrong_kind(field_path, "an array", *field);
}

Result<std::optional<std::string>> optional_text(
    const json::object& object, std::string_view key, const std::string& path
) {
  const json::value* field = find_field(object, key);
  if (field == nullptr) {
    return std::optional<std::string>();
  }
  if (const json::string* text = field->if_string()) {
    return std::optional<std::string>(std::string(*text));
  }
  return wrong_kind(path + "." + std::string(key), "a string", *field);
}

Result<std::string> required_text(
    const json::object& object, std::string_view key, const std::string& path
) {
  ASSIGN_OR_RETURN(std::optional<std::string> text, optional_text(object, key, path));
  if (!text) {
    return invalid_argument(path + "." + std::string(key) + " is missing; it must be a string");
  }
  return *std::move(text);
}

std::string item_path(const std::string& path, std::size_t idx) {
  return path + "[" + std::to_string(idx) + "]";
}

Result<HarmonyFunction> read_function(const json::value& value, const std::string& path) {
  ASSIGN_OR_RETURN(const json::object* object, as_object(value, path));
  HarmonyFunction function;
  ASSIGN_OR_RETURN(function.name, required_text(*object, "name", path));
  ASSIGN_OR_RETURN(function.description, required_text(*object, "description", path));
  if (const json::value* schema = find_field(*object, "parameters")) {
    function.parameters = *schema;
  }
  return function;
}

Result<HarmonyTools> read_tools(const json::object& content, const std::string& path) {
  HarmonyTools tools;
  const json::value* field = find_field(content, "tools");
  if (field == nullptr) {
    return tools;
  }
  ASSIGN_OR_RETURN(const json::object* namespaces, as_object(*field, path + ".tools"));
  for (const auto& member : *namespaces) {
    const std::string tool_path = path + ".tools." + std::string(member.key());
    ASSIGN_OR_RETURN(const json::object* object, as_object(member.value(), tool_path));
    HarmonyNamespace tool;
    ASSIGN_OR_RETURN(tool.name, required_text(*object, "name", tool_path));
    ASSIGN_OR_RETURN(tool.description, optional_text(*object, "description", tool_path));
    ASSIGN_OR_RETURN(const json::array* functions, array_field(*object, "tools", tool_path));
    for (std::size_t i = 0; i < functions->size(); ++i) {
      ASSIGN_OR_RETURN(
          HarmonyFunction function,
          read_function((*functions)[i], item_path(tool_path + ".tools", i))
      );
      tool.functions.push_back(std::move(function));
    }
    tools.insert_or_assign(std::string(member.key()), std::move(tool));
  }
  return tools;
}

Result<void> read_channels(
    const json::value& value, const std::string& path, HarmonySystemContent& content
) {
  ASSIGN_OR_RETURN(const json::object* object, as_object(value, path));
  ASSIGN_OR_RETURN(const json::array* channels, array_field(*object, "valid_channels", path));
  for (std::size_t i = 0; i < channels->size(); ++i) {
    const json::value& channel = (*channels)[i];
    if (!channel.is_string()) {
      return wrong_kind(item_path(path + ".valid_channels", i), "a string", channel);
    }
    content.valid_channels.emplace_back(channel.get_string());
  }
  const json::value* required = object->if_contains("channel_required");
  if (required == nullptr || !required->is_bool()) {
    return invalid_argument(path + ".channel_required must be true or false");
  }
  content.channel_required = required->get_bool();
  return {};
}

Result<HarmonySystemContent> read_system_content(
    const json::object& object, const std::string& path
) {
  HarmonySystemContent content;
  ASSIGN_OR_RETURN(content.model_identity, optional_text(object, "model_identity", path));
  ASSIGN_OR_RETURN(content.knowledge_cutoff, optional_text(object, "knowledge_cutoff", path));
  ASSIGN_OR_RETURN(
      content.conversation_date, optional_text(object, "conversation_start_date", path)
  );
  ASSIGN_OR_RETURN(const auto effort, optional_text(object, "reasoning_effort", path));
  if (effort) {
    content.effort = *effort == "Low"      ? std::optional(HarmonyEffort::kLow)
                     : *effort == "Medium" ? std::optional(HarmonyEffort::kMedium)
                     : *effort == "High"   ? std::optional(HarmonyEffort::kHigh)
                                           : std::nullopt;
    if (!content.effort) {
      return invalid_argument(
          path + ".reasoning_effort is '" + *effort + "'; use Low, Medium or High"
      );
    }
  }
  if (const json::value* channels = find_field(object, "channel_config")) {
    RETURN_IF_ERROR(read_channels(*channels, path + ".channel_config", content));
  }
  ASSIGN_OR_RETURN(content.tools, read_tools(object, path));
  return content;
}

Result<Part> read_part(const json::value& value, const std::string& path) {
  ASSIGN_OR_RETURN(const json::object* object, as_object(value, path));
  ASSIGN_OR_RETURN(const std::string type, required_text(*object, "type", path));
  if (type == "text") {
    ASSIGN_OR_RETURN(std::string text, required_text(*object, "text", path));
    return Part(std::move(text));
  }
  if (type == "system_content") {
    ASSIGN_OR_RETURN(HarmonySystemContent content, read_system_content(*object, path));
    return Part(std::move(content));
  }
  if (type == "developer_content") {
    HarmonyDeveloperContent content;
    ASSIGN_OR_RETURN(content.instructions, optional_text(*object, "instructions", path));
    ASSIGN_OR_RETURN(content.tools, read_tools(*object, path));
    return Part(std::move(content));
  }
  return invalid_argument(
      path + ".type is '" + type + "'; use text, system_content or developer_content"
  );
}

Result<std::vector<Part>> read_parts(const json::object& object, const std::string& path) {
  std::vector<Part> parts;
  if (const json::value* content = object.if_contains("content");
      content != nullptr && content->is_string()) {
    parts.emplace_back(std::string(content->get_string()));
    return parts;
  }
  ASSIGN_OR_RETURN(const json::array* items, array_field(object, "content", path));
  for (std::size_t i = 0; i < items->size(); ++i) {
    ASSIGN_OR_RETURN(Part part, read_part((*items)[i], item_path(path + ".content", i)));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Draft> read_message(const json::value& value, const std::string& path) {
  ASSIGN_OR_RETURN(const json::object* object, as_object(value, path));
  Draft draft;
  HarmonyMessage& message = draft.message;
  ASSIGN_OR_RETURN(const std::string role_name, required_text(*object, "role", path));
  const std::optional<HarmonyRole> role = harmony_role_called(role_name);
  if (!role) {
    return invalid_argument(
        path + ".role is '" + role_name + "'; use system, developer, user, assistant or tool"
    );
  }
  message.role = *role;
  ASSIGN_OR_RETURN(const auto name, optional_text(*object, "name", path));
  message.name = name.value_or("");
  message.has_empty_name = name && name->empty();
  ASSIGN_OR_RETURN(message.recipient, optional_text(*object, "recipient", path));
  ASSIGN_OR_RETURN(message.channel, optional_text(*object, "channel", path));
  ASSIGN_OR_RETURN(message.content_type, optional_text(*object, "content_type", path));
  ASSIGN_OR_RETURN(draft.parts, read_parts(*object, path));
  return draft;
}

bool declares_functions(const std::vector<Draft>& drafts) {
  return std::any_of(drafts.begin(), drafts.end(), [](const Draft& draft) {
    return std::any_of(draft.parts.begin(), draft.parts.end(), [](const Part& part) {
      const auto* content = std::get_if<HarmonyDeveloperContent>(&part);
      return content != nullptr && content->declares_functions();
    });
  });
}

void drop_analysis(std::vector<Draft>& drafts) {
  const auto last = std::find_if(drafts.rbegin(), drafts.rend(), [](const Draft& draft) {
    return draft.message.role == HarmonyRole::kAssistant;
  });
  if (last == drafts.rend() || last->message.channel != kHarmonyFinal) {
    return;
  }
  const auto first_final = std::find_if(drafts.begin(), drafts.end(), [](const Draft& draft) {
    return draft.message.channel == kHarmonyFinal;
  });
  const auto kept = std::remove_if(drafts.begin(), first_final, [](const Draft& draft) {
    return draft.message.channel == kHarmonyAnalysis;
  });
  drafts.erase(kept, first_final);
}

Result<std::string> text_of(const Part& part, HarmonyRole role, bool has_functions) {
  if (const auto* system = std::get_if<HarmonySystemContent>(&part)) {
    if (role != HarmonyRole::kSystem) {
      return invalid_argument("a system_content part may stand in system messages only");
    }
    return harmony_system_text(*system, has_functions);
  }
  if (const auto* developer = std::get_if<HarmonyDeveloperContent>(&part)) {
    if (role != HarmonyRole::kDeveloper) {
      return invalid_argument("a developer_content part may stand in developer messages only");
    }
    return harmony_developer_text(*developer);
  }
  return std::get<std::string>(part);
}

}  // namespace

Result<HarmonyConversation> read_harmony_conversation(
    const json::value& value, bool drops_analysis
) {
  ASSIGN_OR_RETURN(const json::object* object, as_object(value, "the conversation"));
  ASSIGN_OR_RETURN(const json::array* items, array_field(*object, "messages", "the conversation"));
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < items->size(); ++i) {
    ASSIGN_OR_RETURN(Draft draft, read_message((*items)[i], item_path("messages", i)));
    drafts.push_back(std::move(draft));
  }
  const bool has_functions = declares_functions(drafts);
  if (drops_analysis) {
    drop_analysis(drafts);
  }
  HarmonyConversation conversation;
  for (Draft& draft : drafts) {
    for (const Part& part : draft.parts) {
      ASSIGN_OR_RETURN(std::string text, text_of(part, draft.message.role, has_functions));
      draft.message.parts.push_back(std::move(text));
    }
    conversation.push_back(std::move(draft.message));
  }
  return conversation;
}

}  // namespace rapt
