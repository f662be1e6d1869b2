#include <utility>

#include "text/chat/harmony/harmony_chat_parser_internal.h"
#include "text/chat/harmony/harmony_constraint_internal.h"
#include "text/chat/harmony/harmony_format_internal.h"
#include "text/chat/harmony/harmony_prompt_internal.h"
#include "text/chat/harmony/harmony_renderer_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"
#include "text/stop_strings.h"

namespace rapt {

namespace {

class HarmonyStopMatcher final : public StopMatcher {
 public:
  HarmonyStopMatcher(
      const Tokenizer& tokenizer,
      const HarmonyTokens& tokens,
      HarmonyToolNames names,
      const std::vector<std::string>& stops,
      int min_tokens
  )
      : parser_(tokenizer, tokens, std::move(names)), scanner_(stops), num_unchecked_(min_tokens) {}

  std::optional<int> accept(TokenId token) override {
    const ChatDelta delta = parser_.push(token);
    if (num_unchecked_ > 0) {
      --num_unchecked_;
      scanner_.pass(delta.content);
      return std::nullopt;
    }
    const auto hit = scanner_.push(delta.content);
    return hit ? std::optional<int>(hit->stop_idx) : std::nullopt;
  }

 private:
  HarmonyChatParser parser_;
  StopStringScanner scanner_;
  int num_unchecked_;
};

class HarmonyFormat final : public ChatFormat {
 public:
  HarmonyFormat(const Tokenizer& tokenizer, const HarmonyTokens& tokens)
      : tokenizer_(tokenizer), tokens_(tokens), renderer_(tokenizer, tokens) {}

  Result<std::vector<TokenId>> render(
      std::span<const ChatMessage> messages, const ChatOptions& options
  ) const override {
    if (options.documents) {
      return Error{
          ErrorCode::kInvalidArgument,
          "documents is not supported by this model: put the texts into a message.",
          "documents",
          "unsupported_parameter"};
    }
    ASSIGN_OR_RETURN(
        const HarmonyConversation conversation, to_harmony_conversation(messages, options)
    );
    return renderer_.render_for_completion(conversation);
  }

  std::unique_ptr<ChatParser> make_parser() const override {
    return std::make_unique<HarmonyChatParser>(tokenizer_, tokens_);
  }

  std::unique_ptr<ChatParser> make_parser(const ChatOptions& options, std::string_view id_seed)
      const override {
    return std::make_unique<HarmonyChatParser>(
        tokenizer_, tokens_, HarmonyToolNames(options), id_seed
    );
  }

  std::function<std::unique_ptr<TokenConstraint>()> make_constraint(const ChatOptions& options
  ) const override {
    return make_harmony_constraint(tokenizer_, tokens_, options);
  }

  std::unique_ptr<StopMatcher> make_stop_matcher(std::vector<std::string> stops, int min_tokens)
      const override {
    return make_stop_matcher(ChatOptions{}, std::move(stops), min_tokens);
  }

  std::unique_ptr<StopMatcher> make_stop_matcher(
      const ChatOptions& options, std::vector<std::string> stops, int min_tokens
  ) const override {
    return std::make_unique<HarmonyStopMatcher>(
        tokenizer_, tokens_, HarmonyToolNames(options), stops, min_tokens
    );
  }

  std::vector<TokenId> stop_token_ids() const override {
    return {tokens_.end_of_turn, tokens_.call, tokens_.end_of_text};
  }

  bool has_reasoning_effort() const override { return true; }

 private:
  const Tokenizer& tokenizer_;
  HarmonyTokens tokens_;
  HarmonyRenderer renderer_;
};

}  // namespace

Result<std::unique_ptr<ChatFormat>> make_harmony_format(const Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(const HarmonyTokens tokens, HarmonyTokens::find_in(tokenizer));
  return std::unique_ptr<ChatFormat>(std::make_unique<HarmonyFormat>(tokenizer, tokens));
}

}  // namespace rapt
