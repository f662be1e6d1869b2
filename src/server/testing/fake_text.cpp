#include <algorithm>

#include "server/testing/fake_text_internal.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace rapt {

namespace {

constexpr std::string_view kSpecialNames[] = {"<|end|>", "<|start|>", "<|thinking|>", "<|answer|>"};

class FakeChatParser final : public ChatParser {
 public:
  explicit FakeChatParser(const Tokenizer& tokenizer) : detokenizer_(tokenizer) {}

  ChatDelta push(TokenId token) override {
    if (token == FakeTokenizer::kThinking || token == FakeTokenizer::kAnswer) {
      is_thinking_ = token == FakeTokenizer::kThinking;
      return {};
    }
    return delta(detokenizer_.push(token));
  }

  ChatDelta finish() override { return delta(detokenizer_.finish()); }

  bool in_reasoning() const override { return is_thinking_; }

 private:
  ChatDelta delta(std::string text) const {
    ChatDelta result;
    (is_thinking_ ? result.reasoning : result.content) = std::move(text);
    return result;
  }

  Detokenizer detokenizer_;
  bool is_thinking_ = false;
};

class FakeChatStopMatcher final : public StopMatcher {
 public:
  FakeChatStopMatcher(
      const Tokenizer& tokenizer, const std::vector<std::string>& stops, int min_tokens
  )
      : parser_(tokenizer), scanner_(stops), num_unchecked_(min_tokens) {}

  std::optional<int> accept(TokenId token) override {
    const std::string content = parser_.push(token).content;
    if (num_unchecked_ > 0) {
      --num_unchecked_;
      scanner_.pass(content);
      return std::nullopt;
    }
    const auto hit = scanner_.push(content);
    return hit ? std::optional<int>(hit->stop_idx) : std::nullopt;
  }

 private:
  FakeChatParser parser_;
  StopStringScanner scanner_;
  int num_unchecked_;
};

std::string_view role_name(ChatRole role) {
  switch (role) {
    case ChatRole::kSystem:
      return "system";
    case ChatRole::kDeveloper:
      return "developer";
    case ChatRole::kUser:
      return "user";
    case ChatRole::kAssistant:
      return "assistant";
    case ChatRole::kTool:
      return "tool";
  }
  return "";
}

void append(std::vector<TokenId>& to, const std::vector<TokenId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

FakeTokenizer::FakeTokenizer() {
  for (int byte = 0; byte < 256; ++byte) {
    names_.emplace_back(1, static_cast<char>(byte));
  }
  names_.insert(names_.end(), std::begin(kSpecialNames), std::end(kSpecialNames));
}

std::vector<TokenId> FakeTokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  for (const char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  return ids;
}

std::vector<TokenId> FakeTokenizer::encode_with_special(std::string_view text) const {
  std::vector<TokenId> ids;
  while (!text.empty()) {
    const auto name = std::ranges::find_if(kSpecialNames, [&](std::string_view candidate) {
      return text.starts_with(candidate);
    });
    if (name == std::end(kSpecialNames)) {
      ids.push_back(static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    } else {
      ids.push_back(*special_id(*name));
      text.remove_prefix(name->size());
    }
  }
  return ids;
}

std::string_view FakeTokenizer::token_bytes(TokenId id) const {
  return id >= 0 && id < kVocabSize ? std::string_view(names_[id]) : std::string_view();
}

bool FakeTokenizer::is_special(TokenId id) const {
  return id >= kEnd && id < kVocabSize;
}

std::optional<TokenId> FakeTokenizer::special_id(std::string_view name) const {
  const auto found = std::ranges::find(kSpecialNames, name);
  if (found == std::end(kSpecialNames)) {
    return std::nullopt;
  }
  return kEnd + static_cast<TokenId>(found - std::begin(kSpecialNames));
}

int FakeTokenizer::vocab_size() const {
  return kVocabSize;
}

Result<std::vector<TokenId>> FakeChatFormat::render(
    std::span<const ChatMessage> messages, const ChatOptions& options
) const {
  std::vector<TokenId> ids = tokenizer_.encode(
      options.conversation_date.value_or("no date") + "," + options.reasoning_effort + "," +
      options.model_identity.value_or("")
  );
  for (const ChatMessage& message : messages) {
    ids.push_back(FakeTokenizer::kStart);
    append(ids, tokenizer_.encode(std::string(role_name(message.role)) + ":"));
    if (message.reasoning) {
      append(ids, tokenizer_.encode("(" + *message.reasoning + ")"));
    }
    append(ids, tokenizer_.encode(message.content));
    ids.push_back(FakeTokenizer::kEnd);
  }
  ids.push_back(FakeTokenizer::kStart);
  return ids;
}

std::unique_ptr<ChatParser> FakeChatFormat::make_parser() const {
  return std::make_unique<FakeChatParser>(tokenizer_);
}

std::unique_ptr<StopMatcher> FakeChatFormat::make_stop_matcher(
    std::vector<std::string> stops, int min_tokens
) const {
  return std::make_unique<FakeChatStopMatcher>(tokenizer_, stops, min_tokens);
}

std::vector<TokenId> FakeChatFormat::stop_token_ids() const {
  return {FakeTokenizer::kEnd};
}

std::vector<TokenId> fake_chat_answer(std::string_view thinking, std::string_view answer) {
  const FakeTokenizer tokenizer;
  std::vector<TokenId> ids = {FakeTokenizer::kThinking};
  append(ids, tokenizer.encode(thinking));
  ids.push_back(FakeTokenizer::kAnswer);
  append(ids, fake_text_answer(answer));
  return ids;
}

std::vector<TokenId> fake_text_answer(std::string_view text) {
  std::vector<TokenId> ids = FakeTokenizer().encode(text);
  ids.push_back(FakeTokenizer::kEnd);
  return ids;
}

}  // namespace rapt
