#include <cstddef>
#include <utility>

#include "base/json.h"
#include "text/chat/call_id_internal.h"
#include "text/chat/harmony/harmony_chat_parser_internal.h"
#include "text/chat/harmony/harmony_words_internal.h"

namespace rapt {

HarmonyChatParser::HarmonyChatParser(
    const Tokenizer& tokenizer,
    const HarmonyTokens& tokens,
    HarmonyToolNames names,
    std::string_view id_seed
)
    : tokens_(tokens),
      names_(std::move(names)),
      id_seed_(id_seed),
      parser_(tokenizer, tokens, *this) {}

ChatDelta HarmonyChatParser::push(TokenId token) {
  token_ = token;
  parser_.push(token);
  return take_delta();
}

ChatDelta HarmonyChatParser::finish() {
  token_.reset();
  parser_.finish();
  return take_delta();
}

// As vLLM counts reasoning tokens: the bodies of thinking, and of calls.
bool HarmonyChatParser::in_reasoning() const {
  return parser_.current() != nullptr && target_ != &content_;
}

void HarmonyChatParser::on_begin(const HarmonyHeader& header) {
  if (auto tool = called_tool(header)) {
    if (!tool->is_written_so) {
      on_repair(RepairKind::kRecipient);
    }
    begin_call(header, std::move(tool->name));
    return;
  }
  const bool is_to_tool = header.recipient && is_tool_recipient(*header.recipient);
  if (is_to_tool) {
    on_repair(RepairKind::kUndeclaredTool);
  }
  const bool is_reasoning = header.channel == kHarmonyAnalysis && !is_to_tool;
  target_ = is_reasoning ? &reasoning_ : &content_;
  target_->needs_line_feed = target_->has_text;
}

// The recipient, or else a word that names a declared tool: "commentary functions.f json" and
// "to=<|constrain|>functions.f" have lost their mark on the way.
std::optional<HarmonyToolNames::Match> HarmonyChatParser::called_tool(const HarmonyHeader& header
) const {
  if (header.recipient) {
    return names_.find(*header.recipient);
  }
  for (const std::string& word : header.words) {
    if (is_content_type(word)) {
      continue;
    }
    if (auto tool = names_.find(word)) {
      tool->is_written_so = false;
      return tool;
    }
  }
  return std::nullopt;
}

void HarmonyChatParser::begin_call(const HarmonyHeader& header, std::string name) {
  if (header.channel != kHarmonyCommentary && header.channel != kHarmonyAnalysis) {
    on_repair(RepairKind::kCallChannel);
  }
  target_ = nullptr;
  arguments_.clear();
  call_deltas_.push_back({num_calls_, make_call_id(id_seed_, num_calls_), std::move(name)});
  ++num_calls_;
}

void HarmonyChatParser::on_text(std::string_view text) {
  if (target_ == nullptr) {
    add_arguments(text);
    return;
  }
  if (target_->needs_line_feed) {
    target_->delta += '\n';
    target_->needs_line_feed = false;
  }
  target_->delta += text;
  target_->has_text = true;
}

void HarmonyChatParser::add_arguments(std::string_view text) {
  const int call_idx = num_calls_ - 1;
  if (call_deltas_.empty() || call_deltas_.back().index != call_idx) {
    call_deltas_.push_back({call_idx});
  }
  call_deltas_.back().arguments += text;
  arguments_ += text;
}

void HarmonyChatParser::on_end() {
  if (target_ == nullptr) {
    end_call();
  }
}

// A call that the stream's end cuts short stays as it is: the finish reason says so.
void HarmonyChatParser::end_call() {
  if (!token_) {
    return;
  }
  if (*token_ != tokens_.call) {
    on_repair(RepairKind::kCallEnd);
  }
  if (!parse_json(arguments_, "the arguments")) {
    on_repair(RepairKind::kCallArguments);
  }
}

void HarmonyChatParser::on_repair(RepairKind kind) {
  ++repairs_[static_cast<std::size_t>(kind)];
}

ChatDelta HarmonyChatParser::take_delta() {
  return {
      std::exchange(reasoning_.delta, {}),
      std::exchange(content_.delta, {}),
      std::exchange(call_deltas_, {})};
}

}  // namespace rapt
