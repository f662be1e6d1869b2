#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/tokenizer.h"

namespace rapt {

// A tokenizer that a test can do in its head: ids 0 to 255 are bytes, four more are special.
class FakeTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId kEnd = 256;       // <|end|>
  static constexpr TokenId kStart = 257;     // <|start|>
  static constexpr TokenId kThinking = 258;  // <|thinking|>
  static constexpr TokenId kAnswer = 259;    // <|answer|>
  static constexpr int kVocabSize = 260;

  FakeTokenizer();

  PromptFrame frame;  // of prompt_frame(); a test sets it before it starts a server

  PromptFrame prompt_frame() const override { return frame; }

  std::vector<TokenId> encode(std::string_view text) const override;
  std::vector<TokenId> encode_with_special(std::string_view text) const override;
  std::string_view token_bytes(TokenId id) const override;
  bool is_special(TokenId id) const override;
  std::optional<TokenId> special_id(std::string_view name) const override;
  int vocab_size() const override;

 private:
  std::vector<std::string> names_;
};

// Prompts are "<|start|>ROLE:CONTENT<|end|>" a message and a last "<|start|>"; answers hold
// thinking after <|thinking|> and text after <|answer|>, until <|end|>. The conversation date and
// the effort come first, as text.
class FakeChatFormat final : public ChatFormat {
 public:
  explicit FakeChatFormat(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  Result<std::vector<TokenId>> render(
      std::span<const ChatMessage> messages, const ChatOptions& options
  ) const override;
  std::unique_ptr<ChatParser> make_parser() const override;
  std::unique_ptr<StopMatcher> make_stop_matcher(std::vector<std::string> stops, int min_tokens)
      const override;
  std::vector<TokenId> stop_token_ids() const override;

  bool has_effort = true;  // what has_reasoning_effort() says

  bool has_reasoning_effort() const override { return has_effort; }

 private:
  const Tokenizer& tokenizer_;
};

// "<|thinking|>" thinking "<|answer|>" answer "<|end|>" as ids.
std::vector<TokenId> fake_chat_answer(std::string_view thinking, std::string_view answer);
// The bytes of `text` as ids, with <|end|> behind them.
std::vector<TokenId> fake_text_answer(std::string_view text);

}  // namespace rapt
