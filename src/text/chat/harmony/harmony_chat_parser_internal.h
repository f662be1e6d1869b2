#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/harmony/harmony_parser_internal.h"
#include "text/chat/harmony/harmony_tool_names_internal.h"

namespace rapt {

// Sorts Harmony messages into what a chat client sees: a message to a declared function is a call,
// whatever its channel; the rest of analysis is reasoning; final and commentary are content, and so
// is a message to a tool that nobody declared. Several messages of one kind are joined with a line
// feed. One choice, one thread.
class HarmonyChatParser final : public ChatParser, private HarmonySink {
 public:
  // `tokenizer` must outlive this. Ids of calls depend on `id_seed` and the call's index only.
  HarmonyChatParser(
      const Tokenizer& tokenizer,
      const HarmonyTokens& tokens,
      HarmonyToolNames names = {},
      std::string_view id_seed = {}
  );

  ChatDelta push(TokenId token) override;
  ChatDelta finish() override;
  bool in_reasoning() const override;

  int num_tool_calls() const override { return num_calls_; }

  RepairCounts repairs() const override { return repairs_; }

 private:
  // One of the two texts that the client sees.
  struct Stream {
    std::string delta = {};
    bool has_text = false;
    bool needs_line_feed = false;  // before the next text: it is another message's
  };

  void on_begin(const HarmonyHeader& header) override;
  void on_text(std::string_view text) override;
  void on_end() override;
  void on_repair(RepairKind kind) override;

  std::optional<HarmonyToolNames::Match> called_tool(const HarmonyHeader& header) const;
  void begin_call(const HarmonyHeader& header, std::string name);
  void end_call();
  void add_arguments(std::string_view text);
  ChatDelta take_delta();

  HarmonyTokens tokens_;
  HarmonyToolNames names_;
  std::string id_seed_;
  HarmonyParser parser_;
  std::optional<TokenId> token_;  // being pushed; nothing while the stream is ended
  Stream reasoning_;
  Stream content_;
  Stream* target_ = &content_;  // null inside a call
  std::vector<ToolCallDelta> call_deltas_;
  std::string arguments_;  // of the call being read
  int num_calls_ = 0;
  RepairCounts repairs_ = {};
};

}  // namespace rapt
