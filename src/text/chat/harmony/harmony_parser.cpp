#include <utility>

#include "text/chat/harmony/harmony_parser_internal.h"
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
    end_headless();
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
    end_headless();
    begin_header(true);
  } else if (tokens_.ends_message(token)) {
    end_headless();
  } else if (!tokenizer_.is_special(token)) {
    const std::string_view bytes = tokenizer_.token_bytes(token);
    header_text_.add_text(bytes.empty() ? kReplacementCharacter : bytes);
    if (!header_text_.may_be_header()) {
      HarmonyHeaderText::Headless message = header_text_.parse_without_message();
      begin_body(std::move(message.header), false);
      emit(body_.push_bytes(message.body));
    }
  }
}

void HarmonyParser::push_into_body(TokenId token) {
  if (token == tokens_.start || token == tokens_.channel) {
    // The end token is missing, and with CHANNEL the start too.
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
  } else if (!tokenizer_.is_special(token)) {
    const std::string_view bytes = tokenizer_.token_bytes(token);
    emit(
        bytes.empty() ? body_.finish() + std::string(kReplacementCharacter)
                      : body_.push_bytes(bytes)
    );
  }
}

void HarmonyParser::begin_header(bool has_start) {
  header_text_ = HarmonyHeaderText(has_start);
}

void HarmonyParser::begin_body(HarmonyHeader header, bool has_message) {
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

// A header that ended before MESSAGE came: its text, less what is recognised, is the message.
void HarmonyParser::end_headless() {
  HarmonyHeaderText::Headless message = header_text_.parse_without_message();
  begin_header(false);
  if (message.body.empty()) {
    return;
  }
  begin_body(std::move(message.header), false);
  emit(body_.push_bytes(message.body));
  end_body();
}

void HarmonyParser::emit(std::string text) {
  if (!text.empty()) {
    sink_.on_text(text);
  }
}

}  // namespace rapt
