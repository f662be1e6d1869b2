#include <algorithm>
#include <utility>

#include "base/log.h"
#include "text/chat/jinja/jinja_chat_parser_internal.h"
#include "text/chat/jinja/jinja_format_internal.h"
#include "text/chat/jinja/probe_internal.h"
#include "text/stop_strings.h"

namespace rapt::jinja {

namespace {

// One of a model's templates, and what there is to know about it.
struct CompiledTemplate {
  Result<Template> compiled;
  TemplateTraits traits = {};
  OutputStyle style = {};
  std::optional<TokenId> end_of_turn = {};
};

CompiledTemplate prepare(
    const std::string& source, const ChatTemplates& templates, const Tokenizer& tokenizer
) {
  CompiledTemplate made{Template::compile(source)};
  if (!made.compiled) {
    LOG_WARNING(
        "the chat template cannot be read: chat requests will be refused",
        kv("file", templates.what),
        kv("error", made.compiled.error().message)
    );
    return made;
  }
  made.style = style_of_template(source);
  made.traits = probe_traits(*made.compiled, templates);
  made.traits.knows_developer = source.find("developer") != std::string::npos;
  made.traits.knows_effort = source.find("reasoning_effort") != std::string::npos;
  made.end_of_turn = probe_end_of_turn(*made.compiled, templates, made.traits, tokenizer);
  return made;
}

class JinjaStopMatcher final : public StopMatcher {
 public:
  JinjaStopMatcher(
      std::unique_ptr<ChatParser> parser, const std::vector<std::string>& stops, int min_tokens
  )
      : parser_(std::move(parser)), scanner_(stops), num_unchecked_(min_tokens) {}

  std::optional<int> accept(TokenId token) override {
    const ChatDelta delta = parser_->push(token);
    if (num_unchecked_ > 0) {
      --num_unchecked_;
      scanner_.pass(delta.content);
      return std::nullopt;
    }
    const auto hit = scanner_.push(delta.content);
    return hit ? std::optional<int>(hit->stop_idx) : std::nullopt;
  }

 private:
  std::unique_ptr<ChatParser> parser_;
  StopStringScanner scanner_;
  int num_unchecked_;
};

class JinjaFormat final : public ChatFormat {
 public:
  JinjaFormat(const Tokenizer& tokenizer, const ChatTemplates& templates)
      : tokenizer_(tokenizer),
        templates_(templates),
        standard_(prepare(
            templates.standard.empty() ? templates.tool_use.value_or("") : templates.standard,
            templates,
            tokenizer
        )) {
    if (templates.tool_use && !templates.standard.empty()) {
      tool_use_ = prepare(*templates.tool_use, templates, tokenizer);
    }
    find_stop_tokens();
  }

  Result<std::vector<TokenId>> render(
      std::span<const ChatMessage> messages, const ChatOptions& options
  ) const override {
    RETURN_IF_ERROR(check_tool_choice(options));
    const CompiledTemplate& used = template_for(options);
    if (!used.compiled) {
      return failure("cannot be read", used.compiled.error());
    }
    Result<MarkedText> text = used.compiled->render(
        template_variables(messages, options, templates_, used.traits, true),
        {.date = options.conversation_date}
    );
    if (!text) {
      return failure("does not take this conversation", text.error());
    }
    return tokenizer_.encode_with_special_in(text->bytes(), text->template_ranges());
  }

  std::unique_ptr<ChatParser> make_parser() const override {
    return make_parser(ChatOptions(), {});
  }

  std::unique_ptr<ChatParser> make_parser(const ChatOptions& options, std::string_view id_seed)
      const override {
    const CompiledTemplate& used = template_for(options);
    JinjaChatParser::Options parsing;
    parsing.style = used.style;
    parsing.begins_thinking = used.compiled && used.style.has_thinking &&
                              opens_thinking(*used.compiled, templates_, used.traits, options);
    if (shows_tools(options)) {
      for (const ToolDeclaration& tool : options.tools) {
        parsing.tool_names.push_back(tool.name);
      }
    }
    parsing.id_seed = id_seed;
    return std::make_unique<JinjaChatParser>(tokenizer_, std::move(parsing));
  }

  std::unique_ptr<StopMatcher> make_stop_matcher(std::vector<std::string> stops, int min_tokens)
      const override {
    return make_stop_matcher(ChatOptions(), std::move(stops), min_tokens);
  }

  std::unique_ptr<StopMatcher> make_stop_matcher(
      const ChatOptions& options, std::vector<std::string> stops, int min_tokens
  ) const override {
    return std::make_unique<JinjaStopMatcher>(make_parser(options, {}), stops, min_tokens);
  }

  std::vector<TokenId> stop_token_ids() const override { return stop_tokens_; }

  bool has_reasoning_effort() const override { return standard_.traits.knows_effort; }

 private:
  const CompiledTemplate& template_for(const ChatOptions& options) const {
    return tool_use_ && shows_tools(options) ? *tool_use_ : standard_;
  }

  Error failure(std::string_view what, const Error& cause) const {
    return invalid_argument(
        "The model's chat template (" + templates_.what + ") " + std::string(what) + ": " +
        cause.message
    );
  }

  // Nothing keeps such a model to a call that is asked for, so that is not promised.
  static Result<void> check_tool_choice(const ChatOptions& options) {
    using Kind = ToolChoice::Kind;
    if (options.tool_choice.kind == Kind::kRequired || options.tool_choice.kind == Kind::kNamed) {
      return Error{
          ErrorCode::kInvalidArgument,
          "tool_choice can be \"auto\" or \"none\" only: nothing keeps this model to a call.",
          "tool_choice",
          "unsupported_parameter"};
    }
    return {};
  }

  void add_stop_token(std::optional<TokenId> id) {
    if (id && std::ranges::find(stop_tokens_, *id) == stop_tokens_.end()) {
      stop_tokens_.push_back(*id);
    }
  }

  void find_stop_tokens() {
    for (const auto& [name, text] : templates_.special_tokens) {
      if (name == "eos_token") {
        add_stop_token(tokenizer_.special_id(text));
      }
    }
    add_stop_token(standard_.end_of_turn);
    if (tool_use_) {
      add_stop_token(tool_use_->end_of_turn);
    }
    // Llama 3 ends a turn so when it waits for a tool's result.
    add_stop_token(tokenizer_.special_id("<|eom_id|>"));
  }

  const Tokenizer& tokenizer_;
  ChatTemplates templates_;
  CompiledTemplate standard_;
  std::optional<CompiledTemplate> tool_use_;
  std::vector<TokenId> stop_tokens_;
};

}  // namespace

Result<std::unique_ptr<ChatFormat>> make_jinja_format(
    const Tokenizer& tokenizer, const ChatTemplates& templates
) {
  if (templates.empty()) {
    return bad_file("the model brings no chat template");
  }
  return std::unique_ptr<ChatFormat>(std::make_unique<JinjaFormat>(tokenizer, templates));
}

}  // namespace rapt::jinja
