#include <algorithm>
#include <utility>

#include "base/json.h"
#include "text/chat/call_id_internal.h"
#include "text/chat/jinja/jinja_chat_parser_internal.h"

namespace rapt::jinja {

namespace {

constexpr std::string_view kBlanks = " \n\r\t";

std::size_t num_blanks(std::string_view text) {
  return std::min(text.find_first_not_of(kBlanks), text.size());
}

}  // namespace

void JinjaChatParser::Stream::add(std::string_view text) {
  if (trims_begin && !has_text) {
    text.remove_prefix(num_blanks(text));
  }
  if (text.empty()) {
    return;
  }
  const std::size_t last = text.find_last_not_of(kBlanks);
  const std::size_t certain =
      !trims_end ? text.size() : (last == std::string_view::npos ? 0 : last + 1);
  if (certain > 0) {
    delta += std::exchange(held, {});
    delta += text.substr(0, certain);
    has_text = true;
    was_used = true;
  }
  held += text.substr(certain);
}

JinjaChatParser::JinjaChatParser(const Tokenizer& tokenizer, Options options)
    : options_(std::move(options)),
      tags_(tags_of(options_.style, !options_.tool_names.empty(), tokenizer)),
      scanner_(tokenizer, tags_.tags) {
  reasoning_.trims_begin = true;
  reasoning_.trims_end = true;
  content_.trims_end = !options_.tool_names.empty() && options_.style.calls != CallStyle::kNone;
  if (options_.begins_thinking) {
    state_ = State::kThinking;
  }
}

ChatDelta JinjaChatParser::push(TokenId token) {
  for (const TagScanner::Piece& piece : scanner_.push(token)) {
    take(piece);
  }
  return take_delta();
}

ChatDelta JinjaChatParser::finish() {
  for (const TagScanner::Piece& piece : scanner_.finish()) {
    take(piece);
  }
  const bool is_inside_call =
      state_ == State::kCall || state_ == State::kCallsBegin || state_ == State::kCallName;
  if (is_inside_call && !is_announced_) {
    give_up_call(RepairKind::kCallEnd);
  }
  if (num_calls_ == 0) {
    content_.delta += std::exchange(content_.held, {});
  }
  return take_delta();
}

void JinjaChatParser::take(const TagScanner::Piece& piece) {
  if (piece.tag_idx) {
    take_tag(tags_.names[*piece.tag_idx]);
  } else {
    take_text(piece.text);
  }
}

void JinjaChatParser::take_tag(TagName name) {
  if (state_ == State::kThinking) {
    if (name == TagName::kThinkEnd) {
      end_thinking();
      return;
    }
    if (name == TagName::kThinkBegin) {
      return;  // the prompt had it already
    }
    // A call in the middle of thinking ends the thinking.
    count(RepairKind::kMissingEnd);
    end_thinking();
  }
  switch (name) {
    case TagName::kThinkBegin:
      state_ = State::kThinking;
      reasoning_.has_text = false;
      reasoning_.held = reasoning_.was_used ? "\n" : "";
      return;
    case TagName::kThinkEnd:
      count(RepairKind::kStrayControl);
      return;
    case TagName::kCallBegin:
      begin_call(CallReader(), "<tool_call>");
      return;
    case TagName::kCallEnd:
      if (state_ == State::kCall && !is_announced_) {
        give_up_call(RepairKind::kCallEnd);
      } else if (state_ == State::kCall) {
        end_call();
      }
      if (std::exchange(has_given_up_, false)) {
        content_.add("</tool_call>");
      }
      state_ = State::kText;
      return;
    case TagName::kCalls:
      if (state_ == State::kCall && is_announced_) {
        end_call();
      }
      state_ = State::kCallsBegin;
      call_prefix_ = "[TOOL_CALLS]";
      is_announced_ = false;
      call_ = CallReader();
      return;
    case TagName::kArguments:
      if (state_ == State::kCallName) {
        begin_named_call("[ARGS]");
      } else if (state_ == State::kCallsBegin) {
        call_prefix_ += "[ARGS]";
      }
      return;
    case TagName::kPythonTag:
      if (state_ == State::kText) {
        begin_call(CallReader(), "");
      }
      return;
  }
}

void JinjaChatParser::take_text(std::string_view text) {
  while (!text.empty()) {
    std::size_t taken = 0;
    switch (state_) {
      case State::kText:
        taken = take_plain(text);
        break;
      case State::kThinking:
        reasoning_.add(text);
        taken = text.size();
        break;
      case State::kCallsBegin:
        taken = take_calls_begin(text);
        break;
      case State::kCallName:
        taken = take_call_name(text);
        break;
      case State::kCall:
        taken = take_call(text);
        break;
      case State::kCallEnd:
        taken = take_call_end(text);
        break;
    }
    text.remove_prefix(taken);
  }
}

// Llama 3 calls a tool by an answer that is an object and nothing else.
std::size_t JinjaChatParser::take_plain(std::string_view text) {
  const bool may_be_call = options_.style.calls == CallStyle::kBareJson &&
                           !options_.tool_names.empty() && !content_.has_text && !has_given_up_;
  if (may_be_call) {
    const std::size_t blanks = num_blanks(text);
    if (blanks > 0) {
      content_.add(text.substr(0, blanks));
      return blanks;
    }
    if (text[0] == '{') {
      begin_call(CallReader(), "");
      return 0;
    }
  }
  content_.add(text);
  return text.size();
}

std::size_t JinjaChatParser::take_calls_begin(std::string_view text) {
  if (kBlanks.find(text[0]) != std::string_view::npos || text[0] == '[') {
    call_prefix_ += text[0];
    return 1;
  }
  if (text[0] == '{') {
    begin_call(CallReader(), call_prefix_);
    return 0;
  }
  state_ = State::kCallName;
  return 0;
}

// A name, up to its arguments: "[ARGS]" is a tag, and some write none.
std::size_t JinjaChatParser::take_call_name(std::string_view text) {
  const std::size_t end = std::min(text.find('{'), text.size());
  call_prefix_ += text.substr(0, end);
  if (end < text.size()) {
    begin_named_call("");
  }
  return end;
}

// The name is what was read behind "[TOOL_CALLS]"; `tag` is what the model wrote behind the name.
void JinjaChatParser::begin_named_call(std::string_view tag) {
  std::string called = call_prefix_.substr(std::string_view("[TOOL_CALLS]").size());
  called.erase(0, num_blanks(called));
  called.erase(called.find_last_not_of(kBlanks) + 1);
  begin_call(CallReader(std::move(called)), call_prefix_ + std::string(tag));
  announce_call();
}

std::size_t JinjaChatParser::take_call(std::string_view text) {
  const std::size_t taken = call_.push(text);
  if (call_.is_broken()) {
    if (is_announced_) {
      count(RepairKind::kCallArguments);
      end_call();
    } else {
      give_up_call(RepairKind::kCallArguments);
    }
    return taken;
  }
  if (call_.name() && !is_announced_) {
    announce_call();
  }
  if (is_announced_) {
    add_arguments(call_.take_arguments());
  }
  if (call_.is_done() && state_ == State::kCall) {
    if (is_announced_) {
      end_call();
    } else {
      give_up_call(RepairKind::kCallArguments);
    }
  }
  return taken;
}

std::size_t JinjaChatParser::take_call_end(std::string_view text) {
  constexpr std::string_view kBetween = " \n\r\t,;]";
  if (kBetween.find(text[0]) != std::string_view::npos) {
    return 1;
  }
  if (text[0] == '{') {
    begin_call(CallReader(), "");
    return 0;
  }
  state_ = State::kText;
  content_.trims_begin = !content_.has_text;
  return 0;
}

void JinjaChatParser::end_thinking() {
  state_ = State::kText;
  reasoning_.held.clear();
  content_.trims_begin = !content_.has_text;
}

void JinjaChatParser::begin_call(CallReader reader, std::string prefix) {
  if (state_ == State::kCall && is_announced_) {
    end_call();
  } else if (state_ == State::kCall) {
    give_up_call(RepairKind::kCallEnd);
  }
  call_ = std::move(reader);
  call_prefix_ = std::move(prefix);
  call_text_.clear();
  is_announced_ = false;
  has_given_up_ = false;
  state_ = State::kCall;
}

void JinjaChatParser::announce_call() {
  if (!is_declared(*call_.name())) {
    give_up_call(RepairKind::kUndeclaredTool);
    return;
  }
  constexpr int kMistralIdSize = 9;
  is_announced_ = true;
  std::string id = options_.style.calls == CallStyle::kMistral
                       ? make_call_code(options_.id_seed, num_calls_, kMistralIdSize)
                       : make_call_id(options_.id_seed, num_calls_);
  call_deltas_.push_back({num_calls_, std::move(id), *call_.name()});
  ++num_calls_;
  content_.held.clear();
}

void JinjaChatParser::add_arguments(const std::string& text) {
  if (text.empty()) {
    return;
  }
  const int call_idx = num_calls_ - 1;
  if (call_deltas_.empty() || call_deltas_.back().index != call_idx) {
    call_deltas_.push_back({call_idx});
  }
  call_deltas_.back().arguments += text;
  call_text_ += text;
}

void JinjaChatParser::end_call() {
  if (call_text_.empty()) {
    // A call without arguments has an empty object of them.
    add_arguments("{}");
  } else if (!parse_json(call_text_, "the arguments")) {
    count(RepairKind::kCallArguments);
  }
  state_ = State::kCallEnd;
}

void JinjaChatParser::give_up_call(RepairKind why) {
  count(why);
  content_.add(call_prefix_ + call_.raw());
  call_prefix_.clear();
  call_ = CallReader();
  has_given_up_ = true;
  state_ = State::kText;
}

bool JinjaChatParser::is_declared(std::string_view name) const {
  return std::ranges::find(options_.tool_names, name) != options_.tool_names.end();
}

ChatDelta JinjaChatParser::take_delta() {
  return {
      std::exchange(reasoning_.delta, {}),
      std::exchange(content_.delta, {}),
      std::exchange(call_deltas_, {})};
}

}  // namespace rapt::jinja
