#pragma once

#include <optional>
#include <string_view>

#include "request/request.h"
#include "text/chat/chat_repairs.h"
#include "text/chat/harmony/harmony_header_internal.h"
#include "text/chat/harmony/harmony_message_internal.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace rapt {

// Hears what a HarmonyParser finds: for each message its begin, its body in pieces, its end.
class HarmonySink {
 public:
  virtual ~HarmonySink() = default;
  virtual void on_begin(const HarmonyHeader& header) = 0;
  virtual void on_text(std::string_view text) = 0;  // valid UTF-8, never empty
  virtual void on_end() = 0;

  // Something had to be put right; before the on_begin of the message it concerns.
  virtual void on_repair(RepairKind) {}
};

// Reads what the model writes after "<|start|>assistant", one token at a time, and never fails.
// About one turn in 25 is malformed; the rules of repair (README.md has them all) keep this up:
// every byte of every body reaches the sink exactly once, and no control token's name does.
// One choice, one thread.
class HarmonyParser {
 public:
  // `tokenizer` and `sink` must outlive this.
  HarmonyParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens, HarmonySink& sink);

  void push(TokenId token);
  // The end of the stream, at whatever point.
  void finish();

  // Null while no body is being read.
  const HarmonyHeader* current() const { return in_body_ ? &header_ : nullptr; }

 private:
  void push_into_header(TokenId token);
  void push_into_body(TokenId token);
  void begin_header(bool has_start);
  void begin_body(HarmonyHeader header, bool has_message);
  void end_body();
  void begin_headless(HarmonyHeaderText::Headless message);
  void end_headless(std::optional<TokenId> token);
  void emit(std::string text);

  const Tokenizer& tokenizer_;
  HarmonyTokens tokens_;
  HarmonySink& sink_;
  bool in_body_ = false;
  bool is_start_due_ = false;             // a message has ended and no START has come
  HarmonyHeaderText header_text_{false};  // while not in a body
  HarmonyHeader header_;                  // of the body
  bool has_message_ = false;              // a MESSAGE token began the body
  Detokenizer body_;
};

}  // namespace rapt
