#include <algorithm>
#include <optional>
#include <utility>

#include "server/api/openai/tool_fields_internal.h"

namespace rapt::openai {

namespace {

// Reads the elements of an array of objects; `read` gets a reader for each and its index.
template <typename Read>
void for_each_object(FieldReader& fields, std::string_view name, const Read& read) {
  const json::array* items = fields.array(name);
  if (items == nullptr) {
    return;
  }
  for (std::size_t item_idx = 0; item_idx < items->size(); ++item_idx) {
    const json::value& item = (*items)[item_idx];
    const std::string element = std::string(name) + "[" + std::to_string(item_idx) + "]";
    if (!item.is_object()) {
      fields.wrong_kind(element, "an object", item);
      return;
    }
    FieldReader inner(item.get_object(), fields.path_of(element) + ".");
    read(inner, item_idx);
    if (!inner.ok()) {
      fields.fail(inner.error());
      return;
    }
  }
}

// Reads the object called `name`, which must be there.
template <typename Read>
void read_object(FieldReader& fields, std::string_view name, const Read& read) {
  const json::object* object = fields.object(name);
  if (object == nullptr) {
    fields.fail(name, fields.path_of(name) + " is missing.", "invalid_value");
    return;
  }
  FieldReader inner(*object, fields.path_of(name) + ".");
  read(inner);
  if (!inner.ok()) {
    fields.fail(inner.error());
  }
}

std::string required_text(FieldReader& fields, std::string_view name) {
  std::optional<std::string> text = fields.text(name);
  if (!text) {
    fields.fail(name, fields.path_of(name) + " is missing.", "invalid_value");
  }
  return std::move(text).value_or("");
}

// "function" when nothing is said.
std::string read_type(FieldReader& fields) {
  return fields.text("type").value_or("function");
}

ToolDeclaration read_function(FieldReader& fields) {
  ToolDeclaration tool;
  tool.name = required_text(fields, "name");
  tool.description = fields.text("description");
  if (fields.object("parameters") != nullptr) {
    tool.parameters = *fields.find("parameters");
  }
  return tool;
}

void read_tools(FieldReader& fields, ChatCompletionRequest& request) {
  for_each_object(fields, "tools", [&](FieldReader& item, std::size_t item_idx) {
    const std::string type = read_type(item);
    if (!item.ok()) {
      return;
    }
    if (type != "function") {
      request.ignored_fields.push_back("tools." + type);
      return;
    }
    read_object(item, "function", [&](FieldReader& function) {
      request.options.tools.push_back(read_function(function));
      request.tool_places.push_back(item_idx);
    });
  });
}

bool declares(const ChatOptions& options, std::string_view name) {
  return std::ranges::any_of(options.tools, [name](const ToolDeclaration& tool) {
    return tool.name == name;
  });
}

void read_named_choice(FieldReader& fields, ToolChoice& choice) {
  read_object(fields, "tool_choice", [&](FieldReader& object) {
    const std::string type = required_text(object, "type");
    if (object.ok() && type != "function") {
      object.fail(
          "type",
          object.path_of("type") + " must be \"function\", but is " + shown(json::value(type)) +
              ".",
          "invalid_value"
      );
    }
    if (object.ok()) {
      read_object(object, "function", [&](FieldReader& function) {
        choice.name = required_text(function, "name");
      });
    }
  });
}

void read_choice(FieldReader& fields, ChatOptions& options) {
  using Kind = ToolChoice::Kind;
  const json::value* value = fields.find("tool_choice");
  if (value == nullptr) {
    return;
  }
  if (value->is_object()) {
    options.tool_choice.kind = Kind::kNamed;
    read_named_choice(fields, options.tool_choice);
    if (fields.ok() && !declares(options, options.tool_choice.name)) {
      fields.fail(
          "tool_choice",
          "tool_choice names the function " + shown(json::value(options.tool_choice.name)) +
              ", which tools does not declare.",
          "invalid_value"
      );
    }
    return;
  }
  if (!value->is_string()) {
    fields.wrong_kind("tool_choice", "a string or an object", *value);
    return;
  }
  const json::string& word = value->get_string();
  if (word == "none") {
    options.tool_choice.kind = Kind::kNone;
  } else if (word == "required") {
    options.tool_choice.kind = Kind::kRequired;
    if (options.tools.empty()) {
      fields.fail(
          "tool_choice",
          "tool_choice is \"required\", but tools declares no function.",
          "invalid_value"
      );
    }
  } else if (word != "auto") {
    fields.fail(
        "tool_choice",
        "tool_choice must be none, auto, required or a function's name in an object, but is " +
            shown(*value) + ".",
        "invalid_value"
    );
  }
}

// OpenAI's first form of tools. To read it as the new one would be wrong: its answers look
// different.
void refuse_functions(FieldReader& fields) {
  const json::array* functions = fields.array("functions");
  if (functions != nullptr && !functions->empty()) {
    fields.fail(
        "functions",
        "functions is not supported: declare functions in tools.",
        "unsupported_parameter"
    );
  }
  const json::value* call = fields.find("function_call");
  const bool asks_for_nothing =
      call == nullptr ||
      (call->is_string() && (call->get_string() == "none" || call->get_string() == "auto"));
  if (!asks_for_nothing) {
    fields.fail(
        "function_call",
        "function_call is not supported: use tools and tool_choice.",
        "unsupported_parameter"
    );
  }
}

// Some clients send the arguments as the object that they parsed.
std::string read_arguments(FieldReader& fields) {
  const json::value* arguments = fields.find("arguments");
  if (arguments == nullptr) {
    return "{}";
  }
  if (arguments->is_object()) {
    return to_json_text(*arguments);
  }
  return fields.text("arguments").value_or("");
}

}  // namespace

void read_tool_fields(FieldReader& fields, ChatCompletionRequest& request) {
  read_tools(fields, request);
  read_choice(fields, request.options);
  // Harmony ends the turn behind a call, so there is nothing to switch off.
  fields.boolean("parallel_tool_calls");
  refuse_functions(fields);
}

std::vector<ToolCall> read_tool_calls(FieldReader& fields) {
  std::vector<ToolCall> calls;
  for_each_object(fields, "tool_calls", [&](FieldReader& item, std::size_t) {
    const std::string type = read_type(item);
    if (item.ok() && type != "function") {
      item.fail(
          "type",
          item.path_of("type") + " must be \"function\", but is " + shown(json::value(type)) + ".",
          "invalid_value"
      );
      return;
    }
    ToolCall call;
    call.id = item.text("id").value_or("");
    read_object(item, "function", [&](FieldReader& function) {
      call.name = required_text(function, "name");
      call.arguments = read_arguments(function);
    });
    calls.push_back(std::move(call));
  });
  if (fields.find("function_call") != nullptr) {
    fields.fail(
        "function_call",
        fields.path_of("function_call") + " is not supported: use tool_calls.",
        "unsupported_parameter"
    );
  }
  return calls;
}

}  // namespace rapt::openai
