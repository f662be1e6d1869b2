#include <utility>

#include "text/chat/harmony/harmony_strict_header_internal.h"
#include "text/chat/harmony/harmony_strict_parser_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

namespace {

// The names that OpenAI's library has for ids above the last that tokenizer.json lists, and for one
// that tokenizer.json calls otherwise. Nothing where it knows no token.
std::optional<std::string> token_text(const Tokenizer& tokenizer, TokenId id) {
  constexpr TokenId kFirstReserved = 200'018;
  constexpr TokenId kLastReserved = 201'088;
  const std::string_view bytes = tokenizer.token_bytes(id);
  if (id >= kFirstReserved && id <= kLastReserved && (bytes.empty() || tokenizer.is_special(id))) {
    return "<|reserved_" + std::to_string(id) + "|>";
  }
  return bytes.empty() ? std::nullopt : std::optional(std::string(bytes));
}

// A body as the library decodes it: after each token, as far as certain and past at most one
// invalid stretch; the first unknown id swallows all that follows it.
class Body {
 public:
  void add(const std::optional<std::string>& text) {
    is_cut_ = is_cut_ || !text;
    if (is_cut_) {
      return;
    }
    bytes_ += *text;
    while (decoded_ < bytes_.size()) {
      const Utf8Step step = utf8_step(bytes_, decoded_);
      if (step.kind != Utf8Kind::kIncomplete) {
        decoded_ += step.num_bytes;
      }
      if (step.kind != Utf8Kind::kCharacter) {
        return;
      }
    }
  }

  std::string text() const {
    if (!is_cut_) {
      return to_valid_utf8(bytes_);
    }
    const std::string_view bytes = bytes_;
    return to_valid_utf8(bytes.substr(0, decoded_)) + std::string(kReplacementCharacter) +
           to_valid_utf8(bytes.substr(decoded_));
  }

 private:
  std::string bytes_;
  std::size_t decoded_ = 0;
  bool is_cut_ = false;
};

class StrictParser {
 public:
  StrictParser(
      const Tokenizer& tokenizer, const HarmonyTokens& tokens, std::optional<HarmonyRole> role
  )
      : tokenizer_(tokenizer),
        tokens_(tokens),
        role_(role),
        state_(role ? State::kHeader : State::kStart) {}

  Result<void> push(TokenId id) {
    switch (state_) {
      case State::kStart:
        if (id != tokens_.start) {
          return invalid_argument(
              "token " + std::to_string(id) + " stands where <|start|> is expected"
          );
        }
        state_ = State::kHeader;
        return {};
      case State::kHeader:
        return push_into_header(id);
      case State::kBody:
        if (id == tokens_.end || id == tokens_.call || id == tokens_.end_of_turn) {
          end_message();
        } else {
          body_.add(token_text(tokenizer_, id));
        }
        return {};
    }
    return {};
  }

  Result<std::vector<HarmonyParsedMessage>> finish() {
    if (state_ == State::kHeader) {
      return invalid_argument("the tokens end inside a header");
    }
    if (state_ == State::kBody) {
      end_message();
    }
    return std::move(messages_);
  }

 private:
  enum class State { kStart, kHeader, kBody };

  // Unknown ids and broken characters count only once the header is whole.
  Result<void> push_into_header(TokenId id) {
    if (id != tokens_.message) {
      const std::optional<std::string> text = token_text(tokenizer_, id);
      is_header_unknown_ = is_header_unknown_ || !text;
      header_ += text.value_or("");
      return {};
    }
    if (is_header_unknown_ || !is_valid_utf8(header_)) {
      return invalid_argument("a header is not text");
    }
    ASSIGN_OR_RETURN(
        HarmonyParsedMessage message,
        parse_harmony_header_strictly(std::exchange(header_, {}), std::exchange(role_, {}))
    );
    messages_.push_back(std::move(message));
    body_ = Body();
    state_ = State::kBody;
    return {};
  }

  void end_message() {
    messages_.back().content = body_.text();
    state_ = State::kStart;
  }

  const Tokenizer& tokenizer_;
  HarmonyTokens tokens_;
  std::optional<HarmonyRole> role_;
  State state_;
  std::string header_;
  bool is_header_unknown_ = false;
  Body body_;
  std::vector<HarmonyParsedMessage> messages_;
};

}  // namespace

Result<std::vector<HarmonyParsedMessage>> parse_harmony_strictly(
    const Tokenizer& tokenizer,
    const HarmonyTokens& tokens,
    std::span<const TokenId> ids,
    std::optional<HarmonyRole> role
) {
  StrictParser parser(tokenizer, tokens, role);
  for (const TokenId id : ids) {
    RETURN_IF_ERROR(parser.push(id));
  }
  return parser.finish();
}

}  // namespace rapt
