#include <string>
#include <utility>

#include "text/chat/harmony/harmony_parser_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"
#include "text/utf8_internal.h"

namespace rapt {

// A prompt ends with "<|start|>assistant", so the stream begins inside a header whose role is
// known. After a message the same state stands for "START is expected": whatever comes without one
// is read as the assistant's next message.
HarmonyParser::HarmonyParser(
    const Tokenizer& tokenizer, const HarmonyTokens& tokens, HarmonySink& sink
)
    : tokenizer_(tokenizer), tokens_(tokens), sink_(sink), body_(tokenizer) {}

void HarmonyParser::push(TokenId token) {
  if (in_body_) {
    push_into_body(token);
  } else {
    push_into_header(token);
  }
}

void HarmonyParser::finish() {
  if (in_body_) {
    end_body();
  } else {
    end_headless(std::nullopt);
  }
}

void HarmonyParser::push_into_header(TokenId token) {
  if (token == tokens_.message) {
    begin_body(header_text_.parse(), true);
  } else if (token == tokens_.channel) {
    header_text_.add_channel();
  } else if (token == tokens_.constrain) {
    header_text_.add_constrain();
  } else if (token == tokens_.start) {
    end_headless(token);
    begin_header(true);
  } else if (tokens_.ends_message(token)) {
    end_headless(token);
  } else if (tokenizer_.is_special(token)) {
    sink_.on_repair(RepairKind::kStrayControl);
  } else {
    std::string_view bytes = tokenizer_.token_bytes(token);
    if (bytes.empty()) {
      sink_.on_repair(RepairKind::kInvalidToken);
      bytes = kReplacementCharacter;
    }
    header_text_.add_text(bytes);
    if (!header_text_.may_be_header()) {
      begin_headless(header_text_.parse_without_message());
    }
  }
}

void HarmonyParser::push_into_body(TokenId token) {
  if (token == tokens_.start || token == tokens_.channel) {
    // The end token is missing, and with CHANNEL the start too.
    if (has_message_) {
      sink_.on_repair(RepairKind::kMissingEnd);
    }
    end_body();
    begin_header(token == tokens_.start);
    if (token == tokens_.channel) {
      header_text_.add_channel();
    }
  } else if (token == tokens_.message && !has_message_ && header_.channel.empty()) {
    // Stray text was taken for a body, and now a message begins that has no header at all.
    end_body();
    begin_body(HarmonyHeader{}, true);
  } else if (tokens_.ends_message(token)) {
    end_body();
  } else if (tokenizer_.is_special(token)) {
    sink_.on_repair(RepairKind::kStrayControl);
  } else if (const std::string_view bytes = tokenizer_.token_bytes(token); !bytes.empty()) {
    emit(body_.push_bytes(bytes));
  } else {
    sink_.on_repair(RepairKind::kInvalidToken);
    emit(body_.finish() + std::string(kReplacementCharacter));
  }
}

void HarmonyParser::begin_header(bool has_start) {
  header_text_ = HarmonyHeaderText(has_start);
  is_start_due_ = !has_start;
}

void HarmonyParser::begin_body(HarmonyHeader header, bool has_message) {
  if (is_start_due_) {
    sink_.on_repair(RepairKind::kMissingStart);
  }
  for (const RepairKind kind : header.repairs) {
    sink_.on_repair(kind);
  }
  in_body_ = true;
  has_message_ = has_message;
  header_ = std::move(header);
  sink_.on_begin(header_);
}

void HarmonyParser::end_body() {
  emit(body_.finish());
  sink_.on_end();
  in_body_ = false;
  begin_header(false);
}

// A header whose MESSAGE is missing: its text, less what is recognised, begins the body.
void HarmonyParser::begin_headless(HarmonyHeaderText::Headless message) {
  const bool is_stray =
      is_start_due_ && message.header.channel.empty() && !message.header.recipient;
  sink_.on_repair(is_stray ? RepairKind::kStrayText : RepairKind::kMissingMessage);
  is_start_due_ = is_start_due_ && !is_stray;
  begin_body(std::move(message.header), false);
  emit(body_.push_bytes(message.body));
}

// A header that `token` (nothing: the end of the stream) ends before MESSAGE came.
void HarmonyParser::end_headless(std::optional<TokenId> token) {
  HarmonyHeaderText::Headless message = header_text_.parse_without_message(!token);
  // A call may do without a body; for any other message a body is all there is.
  const bool is_call =
      token && message.header.recipient && is_tool_recipient(*message.header.recipient);
  if (!message.body.empty() || is_call) {
    begin_headless(std::move(message));
    end_body();
    return;
  }
  const bool is_due = token == tokens_.start && is_start_due_;
  if (token && !(header_text_.empty() && is_due)) {
    sink_.on_repair(header_text_.empty() ? RepairKind::kStrayControl : RepairKind::kMissingMessage);
  }
  begin_header(false);
}

void HarmonyParser::emit(std::string text) {
  if (!text.empty()) {
    sink_.on_text(text);
  }
}

}  // namespace rapt
