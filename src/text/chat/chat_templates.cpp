#include "text/chat/chat_templates.h"

#include "base/json.h"

namespace rapt {

namespace {

// tokenizer_config.json may list what each of many added tokens is.
constexpr int kMaxDepth = 64;

std::string text_field(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// A string, or an object that says more about the token.
std::string token_text(const json::value& token) {
  if (token.is_string()) {
    return std::string(token.get_string());
  }
  return token.is_object() ? text_field(token.get_object(), "content") : "";
}

Result<void> add_templates(const json::value& value, ChatTemplates& templates) {
  if (value.is_null()) {
    return {};
  }
  if (value.is_string()) {
    templates.standard = std::string(value.get_string());
    return {};
  }
  const Error wrong = bad_file(
      templates.what +
      ": \"chat_template\" must be a string or a list of named templates, but is " +
      std::string(json_kind_name(value))
  );
  if (!value.is_array()) {
    return wrong;
  }
  for (const json::value& item : value.get_array()) {
    if (!item.is_object()) {
      return wrong;
    }
    templates.add_named(
        text_field(item.get_object(), "name"), text_field(item.get_object(), "template")
    );
  }
  return {};
}

}  // namespace

void ChatTemplates::add_named(std::string_view name, std::string text) {
  if (name == "default") {
    standard = std::move(text);
  } else if (name == "tool_use") {
    tool_use = std::move(text);
  }
}

Result<ChatTemplates> read_tokenizer_config(std::string_view text, const std::string& what) {
  ChatTemplates templates;
  templates.what = what;
  ASSIGN_OR_RETURN(const json::value config, parse_json(text, what, kMaxDepth));
  if (!config.is_object()) {
    return bad_file(what + " must hold a JSON object");
  }
  for (const auto& [key, value] : config.get_object()) {
    const std::string_view name = key;
    if (name == "chat_template") {
      RETURN_IF_ERROR(add_templates(value, templates));
    } else if (name.ends_with("_token") && !token_text(value).empty()) {
      templates.special_tokens.emplace_back(name, token_text(value));
    }
  }
  return templates;
}

}  // namespace rapt
