#include "text/chat/harmony/harmony_lines.h"

#include <limits>
#include <utility>

#include "text/chat/harmony/harmony_conversation_internal.h"
#include "text/chat/harmony/harmony_parser_internal.h"
#include "text/chat/harmony/harmony_renderer_internal.h"
#include "text/chat/harmony/harmony_strict_parser_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

namespace {

constexpr std::string_view kNamespace = "functions.";

enum class RenderMode { kCompletion, kConversation, kTraining };

struct RenderOptions {
  RenderMode mode = RenderMode::kCompletion;
  HarmonyRole next_turn_role = HarmonyRole::kAssistant;
  bool drops_analysis = true;
};

// The text under `key`, or nothing where it is absent or null.
Result<std::optional<std::string>> text_under(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) {
    return std::optional<std::string>();
  }
  if (const json::string* text = value->if_string()) {
    return std::optional<std::string>(std::string(*text));
  }
  return invalid_argument(
      std::string(key) + " must be a string, but is " + std::string(json_kind_name(*value))
  );
}

Result<HarmonyRole> role_called(const std::string& name, std::string_view key) {
  if (const auto role = harmony_role_called(name)) {
    return *role;
  }
  return invalid_argument(
      std::string(key) + " is '" + name + "'; use system, developer, user, assistant or tool"
  );
}

Result<RenderOptions> read_render_options(const json::value& line) {
  RenderOptions options;
  const json::object* object = line.if_object();
  const json::value* render = object == nullptr ? nullptr : object->if_contains("render");
  if (render == nullptr || render->is_null()) {
    return options;
  }
  const json::object* fields = render->if_object();
  if (fields == nullptr) {
    return invalid_argument(
        "render must be an object, but is " + std::string(json_kind_name(*render))
    );
  }
  ASSIGN_OR_RETURN(const auto mode, text_under(*fields, "mode"));
  if (mode == "conversation") {
    options.mode = RenderMode::kConversation;
  } else if (mode == "training") {
    options.mode = RenderMode::kTraining;
  } else if (mode && mode != "completion") {
    return invalid_argument("mode is '" + *mode + "'; use completion, conversation or training");
  }
  ASSIGN_OR_RETURN(const auto next, text_under(*fields, "next_turn_role"));
  if (next) {
    ASSIGN_OR_RETURN(options.next_turn_role, role_called(*next, "next_turn_role"));
  }
  const json::value* drop = fields->if_contains("auto_drop_analysis");
  if (drop != nullptr && !drop->is_null()) {
    if (!drop->is_bool()) {
      return invalid_argument("auto_drop_analysis must be true or false");
    }
    options.drops_analysis = drop->get_bool();
  }
  return options;
}

struct ParseRequest {
  std::vector<TokenId> ids;  // -1 for a number that no id can be
  std::optional<HarmonyRole> role = HarmonyRole::kAssistant;
  HarmonyToolNames tools;
};

Result<std::vector<TokenId>> read_ids(const json::value& value) {
  const json::array* items = value.if_array();
  if (items == nullptr) {
    return invalid_argument(
        "tokens must be a list of ids, but is " + std::string(json_kind_name(value))
    );
  }
  std::vector<TokenId> ids;
  ids.reserve(items->size());
  for (const json::value& item : *items) {
    if (!item.is_int64() && !item.is_uint64()) {
      return invalid_argument(
          "tokens must be whole numbers, but one is " + std::string(json_kind_name(item))
      );
    }
    const bool fits = item.is_int64() && item.get_int64() >= 0 &&
                      item.get_int64() <= std::numeric_limits<TokenId>::max();
    ids.push_back(fits ? static_cast<TokenId>(item.get_int64()) : -1);
  }
  return ids;
}

Result<ParseRequest> read_parse_request(const json::value& line) {
  ParseRequest request;
  const json::object* object = line.if_object();
  const json::value* tokens = object == nullptr ? &line : object->if_contains("tokens");
  if (tokens == nullptr) {
    return invalid_argument("the object has no tokens; write {\"tokens\": [ids]} or [ids]");
  }
  ASSIGN_OR_RETURN(request.ids, read_ids(*tokens));
  if (object == nullptr) {
    return request;
  }
  if (object->contains("role")) {
    ASSIGN_OR_RETURN(const auto name, text_under(*object, "role"));
    request.role.reset();
    if (name) {
      ASSIGN_OR_RETURN(request.role, role_called(*name, "role"));
    }
  }
  const json::value* tools = object->if_contains("tools");
  if (tools == nullptr || tools->is_null()) {
    return request;
  }
  const json::array* names = tools->if_array();
  if (names == nullptr) {
    return invalid_argument("tools must be a list of names");
  }
  ChatOptions options;
  for (const json::value& item : *names) {
    if (!item.is_string()) {
      return invalid_argument("tools must be a list of names");
    }
    std::string_view name = item.get_string();
    name.remove_prefix(name.starts_with(kNamespace) ? kNamespace.size() : 0);
    options.tools.push_back({std::string(name)});
  }
  request.tools = HarmonyToolNames(options);
  return request;
}

json::value to_json(const std::vector<HarmonyParsedMessage>& messages) {
  json::array list;
  for (const HarmonyParsedMessage& message : messages) {
    json::object item = {{"role", message.role}};
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, const std::optional<std::string>*>>{
             {"name", &message.name},
             {"channel", &message.channel},
             {"recipient", &message.recipient},
             {"content_type", &message.content_type},
         }) {
      if (*value) {
        item[key] = **value;
      }
    }
    item["content"] = message.content;
    list.push_back(std::move(item));
  }
  return list;
}

// Collects what the tolerant parser finds.
class MessageList final : public HarmonySink {
 public:
  explicit MessageList(const HarmonyToolNames& tools) : tools_(tools) {}

  void on_begin(const HarmonyHeader& header) override {
    HarmonyParsedMessage message;
    const HarmonyRole role = harmony_role_called(header.role).value_or(HarmonyRole::kTool);
    message.role = harmony_role_name(role);
    if (role == HarmonyRole::kTool) {
      message.name = header.role;
    }
    if (!header.channel.empty()) {
      message.channel = header.channel;
    }
    message.recipient = header.recipient;
    message.content_type = header.content_type;
    if (message.recipient) {
      name_tool(*message.recipient, message);
    } else {
      read_words(header, message);
    }
    // A header is bytes that the model wrote; only bodies are text already.
    for (auto* field : {&message.name, &message.recipient, &message.content_type}) {
      if (*field) {
        *field = to_valid_utf8(**field);
      }
    }
    messages_.push_back(std::move(message));
  }

  void on_text(std::string_view text) override { messages_.back().content += text; }

  void on_end() override {}

  const std::vector<HarmonyParsedMessage>& messages() const { return messages_; }

 private:
  // Writes out in full the declared tool that a word means; false when it means none.
  bool name_tool(const std::string& word, HarmonyParsedMessage& message) const {
    const auto tool = tools_.find(word);
    if (tool) {
      message.recipient = tool->is_written_so ? word : std::string(kNamespace) + tool->name;
    }
    return tool.has_value();
  }

  // A word of the header that names a declared tool is a recipient that has lost its mark.
  void read_words(const HarmonyHeader& header, HarmonyParsedMessage& message) const {
    for (const std::string& word : header.words) {
      if (!is_content_type(word) && name_tool(word, message)) {
        if (message.content_type == word) {
          message.content_type.reset();
        }
        return;
      }
    }
  }

  const HarmonyToolNames& tools_;
  std::vector<HarmonyParsedMessage> messages_;
};

class HarmonyLinesImpl final : public HarmonyLines {
 public:
  HarmonyLinesImpl(const Tokenizer& tokenizer, const HarmonyTokens& tokens)
      : tokenizer_(tokenizer), tokens_(tokens), renderer_(tokenizer, tokens) {}

  Result<json::value> render(const json::value& line) const override {
    ASSIGN_OR_RETURN(const RenderOptions options, read_render_options(line));
    ASSIGN_OR_RETURN(
        const HarmonyConversation conversation,
        read_harmony_conversation(line, options.drops_analysis)
    );
    ASSIGN_OR_RETURN(const std::vector<TokenId> ids, render_as(conversation, options));
    return json::value(json::array(ids.begin(), ids.end()));
  }

  Result<json::value> parse(const json::value& line, bool is_strict) const override {
    ASSIGN_OR_RETURN(const ParseRequest request, read_parse_request(line));
    if (is_strict) {
      ASSIGN_OR_RETURN(
          const std::vector<HarmonyParsedMessage> messages,
          parse_harmony_strictly(tokenizer_, tokens_, request.ids, request.role)
      );
      return to_json(messages);
    }
    MessageList list(request.tools);
    HarmonyParser parser(tokenizer_, tokens_, list);
    if (request.role && request.role != HarmonyRole::kAssistant) {
      parser.push(tokens_.start);
      for (const TokenId id : tokenizer_.encode(harmony_role_name(*request.role))) {
        parser.push(id);
      }
    }
    for (const TokenId id : request.ids) {
      parser.push(id);
    }
    parser.finish();
    return to_json(list.messages());
  }

 private:
  Result<std::vector<TokenId>> render_as(
      const HarmonyConversation& conversation, const RenderOptions& options
  ) const {
    switch (options.mode) {
      case RenderMode::kCompletion:
        return renderer_.render_for_completion(conversation, options.next_turn_role);
      case RenderMode::kConversation:
        return renderer_.render(conversation);
      case RenderMode::kTraining:
        return renderer_.render_for_training(conversation);
    }
    return internal_error("a render mode without a rendering");
  }

  const Tokenizer& tokenizer_;
  HarmonyTokens tokens_;
  HarmonyRenderer renderer_;
};

}  // namespace

Result<std::unique_ptr<HarmonyLines>> make_harmony_lines(const Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(const HarmonyTokens tokens, HarmonyTokens::find_in(tokenizer));
  return std::unique_ptr<HarmonyLines>(std::make_unique<HarmonyLinesImpl>(tokenizer, tokens));
}

}  // namespace rapt
