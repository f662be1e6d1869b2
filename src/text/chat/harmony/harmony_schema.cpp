#include <optional>
#include <string_view>
#include <unordered_set>

#include "text/chat/harmony/harmony_schema_internal.h"

namespace rapt {

namespace {

void append_type(std::string& out, const json::value& schema, const std::string& indent);

const json::value* find_key(const json::value& schema, std::string_view key) {
  const json::object* object = schema.if_object();
  return object == nullptr ? nullptr : object->if_contains(key);
}

const json::array* find_array(const json::value& schema, std::string_view key) {
  const json::value* found = find_key(schema, key);
  return found == nullptr ? nullptr : found->if_array();
}

std::optional<std::string_view> find_text(const json::value& schema, std::string_view key) {
  const json::value* found = find_key(schema, key);
  if (found == nullptr || !found->is_string()) {
    return std::nullopt;
  }
  return std::string_view(found->get_string());
}

bool has_choices(const json::value& schema) {
  const json::array* choices = find_array(schema, "enum");
  return choices != nullptr && !choices->empty();
}

// A default that is text stands between quotes, unescaped, unless the schema lists choices.
enum class ChosenDefault { kBare, kJson };

void append_default(std::string& out, const json::value& schema, ChosenDefault chosen) {
  const json::value& value = *find_key(schema, "default");
  const json::string* text = value.if_string();
  out += "default: ";
  if (text != nullptr && !has_choices(schema)) {
    out += '"';
    out += *text;
    out += '"';
  } else if (text != nullptr && chosen == ChosenDefault::kBare) {
    out += *text;
  } else {
    append_harmony_json(out, value);
  }
}

// The type, and that it may be null, unless the text says so already.
void append_nullable_type(std::string& out, const json::value& schema, const std::string& indent) {
  const std::size_t begin = out.size();
  append_type(out, schema, indent);
  const json::value* nullable = find_key(schema, "nullable");
  if (nullable != nullptr && nullable->is_bool() && nullable->get_bool() &&
      std::string_view(out).substr(begin).find("null") == std::string_view::npos) {
    out += " | null";
  }
}

// " // description default: D", as much of it as there is.
void append_trailing_comment(
    std::string& out,
    const json::value& schema,
    std::optional<std::string_view> description,
    ChosenDefault chosen
) {
  const bool has_default = find_key(schema, "default") != nullptr;
  if (!description && !has_default) {
    return;
  }
  out += " // ";
  if (description) {
    out += *description;
    out += has_default ? " " : "";
  }
  if (has_default) {
    append_default(out, schema, chosen);
  }
}

void append_comment_line(std::string& out, const std::string& indent, std::string_view text) {
  out += indent;
  out += "// ";
  out += text;
  out += '\n';
}

// Alternatives that are not a property's: each begins a line, and the last has no line end.
void append_alternatives(std::string& out, const json::array& variants, const std::string& indent) {
  for (const json::value& variant : variants) {
    out += "\n" + indent + " | ";
    append_nullable_type(out, variant, indent + "   ");
    append_trailing_comment(out, variant, find_text(variant, "description"), ChosenDefault::kJson);
  }
}

// The alternatives of a property, each on a line of its own below the property's name. A
// description that the property shares with its first variant is printed once.
void append_property_alternatives(
    std::string& out,
    std::string_view name,
    const json::value& property,
    const json::array& variants,
    const std::string& indent
) {
  const std::optional<std::string_view> description = find_text(property, "description");
  const bool is_first_variants =
      description && !variants.empty() && find_text(variants[0], "description") == description;
  const bool is_above = description && !is_first_variants;
  if (is_above) {
    append_comment_line(out, indent, *description);
  }
  if (find_key(property, "default") != nullptr) {
    out += indent + "// ";
    append_default(out, property, ChosenDefault::kBare);
    out += '\n';
  }
  out += indent;
  out += name;
  out += ":\n";
  bool is_first = true;
  for (const json::value& variant : variants) {
    out += indent + " | ";
    append_nullable_type(out, variant, indent + "   ");
    std::optional<std::string_view> comment = find_text(variant, "description");
    if ((is_first && is_above) || comment == description) {
      comment.reset();
    }
    append_trailing_comment(out, variant, comment, ChosenDefault::kBare);
    out += '\n';
    is_first = false;
  }
  out += indent + ",\n";
}

void append_property(
    std::string& out, std::string_view name, const json::value& property, const std::string& indent
) {
  if (const auto title = find_text(property, "title")) {
    append_comment_line(out, indent, *title);
    out += indent + "//\n";
  }
  const json::value* one_of = find_key(property, "oneOf");
  if (const auto description = find_text(property, "description"); description && !one_of) {
    append_comment_line(out, indent, *description);
  }
  if (const json::array* examples = find_array(property, "examples");
      examples != nullptr && !examples->empty()) {
    append_comment_line(out, indent, "Examples:");
    for (const json::value& example : *examples) {
      if (const json::string* text = example.if_string()) {
        append_comment_line(out, indent, "- \"" + std::string(*text) + "\"");
      }
    }
  }
  if (one_of != nullptr && one_of->is_array()) {
    append_property_alternatives(out, name, property, one_of->get_array(), indent);
    return;
  }
  out += indent;
  out += name;
  out += ": ";
  append_nullable_type(out, property, indent + "    ");
  out += ',';
  if (one_of == nullptr) {
    append_trailing_comment(out, property, std::nullopt, ChosenDefault::kBare);
  }
  out += '\n';
}

void append_object(std::string& out, const json::value& schema, const std::string& indent) {
  if (const auto description = find_text(schema, "description")) {
    append_comment_line(out, indent, *description);
  }
  out += "{\n";
  const json::value* properties = find_key(schema, "properties");
  if (properties != nullptr && properties->is_object()) {
    std::unordered_set<std::string_view> required;
    if (const json::array* names = find_array(schema, "required")) {
      for (const json::value& name : *names) {
        if (const json::string* text = name.if_string()) {
          required.insert(std::string_view(*text));
        }
      }
    }
    for (const auto& member : properties->get_object()) {
      std::string name(member.key());
      name += required.contains(member.key()) ? "" : "?";
      append_property(out, name, member.value(), indent);
    }
  }
  out += indent + "}";
}

// The texts among `items`, each through `write`, with " | " between them. False when there is none.
template <typename Write>
bool append_union(std::string& out, const json::array& items, const Write& write) {
  bool has_any = false;
  for (const json::value& item : items) {
    if (const json::string* text = item.if_string()) {
      out += has_any ? " | " : "";
      out += write(std::string(*text));
      has_any = true;
    }
  }
  return has_any;
}

void append_string(std::string& out, const json::value& schema) {
  const json::array* choices = find_array(schema, "enum");
  const auto quoted = [](const std::string& choice) { return '"' + choice + '"'; };
  if (choices == nullptr || !append_union(out, *choices, quoted)) {
    out += "string";
  }
}

void append_array(std::string& out, const json::value& schema, const std::string& indent) {
  if (const json::value* items = find_key(schema, "items")) {
    append_type(out, *items, indent);
    out += "[]";
  } else {
    out += "Array<any>";
  }
}

void append_type(std::string& out, const json::value& schema, const std::string& indent) {
  if (const json::array* variants = find_array(schema, "oneOf")) {
    append_alternatives(out, *variants, indent);
    return;
  }
  if (const json::array* types = find_array(schema, "type")) {
    const auto renamed = [](const std::string& type) {
      return type == "integer" ? "number" : type;
    };
    if (append_union(out, *types, renamed)) {
      return;
    }
  }
  const std::string_view type = find_text(schema, "type").value_or("");
  if (type == "object") {
    append_object(out, schema, indent);
  } else if (type == "string") {
    append_string(out, schema);
  } else if (type == "number" || type == "integer") {
    out += "number";
  } else if (type == "boolean") {
    out += "boolean";
  } else if (type == "array") {
    append_array(out, schema, indent);
  } else {
    out += "any";
  }
}

}  // namespace

void append_harmony_type(std::string& out, const json::value& schema) {
  append_type(out, schema, "");
}

}  // namespace rapt
