#include <algorithm>
#include <iterator>

#include "server/api/choice_decoder_internal.h"
#include "text/chat/chat_format.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace rapt {

namespace {

template <typename T>
void move_to_end(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Deltas of one call follow each other, so only the last can go on.
void join_calls(std::vector<ToolCallDelta>& to, std::vector<ToolCallDelta>&& from) {
  for (ToolCallDelta& delta : from) {
    if (!to.empty() && to.back().index == delta.index) {
      to.back().arguments += delta.arguments;
    } else {
      to.push_back(std::move(delta));
    }
  }
}

// The parts of decoding that all kinds share: counting, ids, and cutting at stop strings.
class StopCutter {
 public:
  explicit StopCutter(const DecoderOptions& options)
      : filter_(options.stop_strings, options.include_stop),
        has_stops_(!options.stop_strings.empty()),
        num_unstopped_tokens_(options.min_tokens) {}

  // Text that may be shown after the `num_tokens`-th token.
  std::string push(std::string text, int num_tokens) {
    if (!has_stops_) {
      return text;
    }
    return num_tokens <= num_unstopped_tokens_ ? filter_.pass(text) : filter_.push(text);
  }

  std::string finish() { return has_stops_ ? filter_.finish() : std::string(); }

 private:
  StopTextFilter filter_;
  bool has_stops_;
  int num_unstopped_tokens_;
};

// Whether the event's token is a stop token whose own text the caller does not want to see.
bool is_hidden_stop(const TokenEvent& event, const DecoderOptions& options) {
  return event.finish && event.finish->stop_token.has_value() && !options.include_stop;
}

class TextDecoder final : public ChoiceDecoder {
 public:
  TextDecoder(const Tokenizer* tokenizer, DecoderOptions options)
      : options_(std::move(options)), cutter_(options_), num_characters_(options_.text_offset) {
    if (tokenizer != nullptr) {
      detokenizer_.emplace(*tokenizer, options_.keep_special);
    }
  }

  void push(const TokenEvent& event, ChoicePiece& piece) override {
    if (event.token) {
      push_token(event, piece);
    }
    if (event.finish) {
      if (detokenizer_) {
        piece.text += cutter_.push(detokenizer_->finish(), num_tokens_);
      }
      piece.text += cutter_.finish();
      piece.finish = event.finish;
    }
  }

 private:
  void push_token(const TokenEvent& event, ChoicePiece& piece) {
    ++num_tokens_;
    ++piece.num_tokens;
    if (options_.keep_token_ids) {
      piece.token_ids.push_back(*event.token);
    }
    if (event.logprob) {
      piece.logprobs.push_back({*event.logprob, event.top_logprobs, num_characters_});
    }
    if (detokenizer_ && !is_hidden_stop(event, options_)) {
      std::string text = detokenizer_->push(*event.token);
      num_characters_ += num_characters(text);
      piece.text += cutter_.push(std::move(text), num_tokens_);
    }
  }

  DecoderOptions options_;
  std::optional<Detokenizer> detokenizer_;
  StopCutter cutter_;
  int num_tokens_ = 0;
  int num_characters_;
};

class ChatDecoder final : public ChoiceDecoder {
 public:
  ChatDecoder(
      const Tokenizer& tokenizer, std::unique_ptr<ChatParser> parser, DecoderOptions options
  )
      : tokenizer_(tokenizer),
        options_(std::move(options)),
        parser_(std::move(parser)),
        cutter_(options_) {}

  void push(const TokenEvent& event, ChoicePiece& piece) override {
    if (event.token) {
      push_token(event, piece);
    }
    if (event.finish) {
      ChatDelta rest = parser_->finish();
      if (!rest.content.empty()) {
        move_to_end(piece.logprobs, std::move(undecided_));
      }
      add(std::move(rest), piece);
      piece.text += cutter_.finish();
      piece.finish = event.finish;
    }
  }

  RepairCounts repairs() const override { return parser_->repairs(); }

  int num_tool_calls() const override { return parser_->num_tool_calls(); }

 private:
  void push_token(const TokenEvent& event, ChoicePiece& piece) {
    ++num_tokens_;
    ++piece.num_tokens;
    if (options_.keep_token_ids) {
      piece.token_ids.push_back(*event.token);
    }
    const bool is_control = tokenizer_.is_special(*event.token);
    if (!is_control && is_hidden_stop(event, options_)) {
      return;
    }
    ChatDelta delta = parser_->push(*event.token);
    if (parser_->in_reasoning()) {
      ++piece.num_reasoning_tokens;
    }
    if (event.logprob) {
      add_logprob(event, is_control, !delta.content.empty(), piece);
    }
    add(std::move(delta), piece);
  }

  // A token without visible text may be the first half of a character, which counts, or a word of a
  // header, which does not: the next token tells.
  void add_logprob(const TokenEvent& event, bool is_control, bool has_content, ChoicePiece& piece) {
    if (is_control || parser_->in_reasoning()) {
      undecided_.clear();
      return;
    }
    undecided_.push_back({*event.logprob, event.top_logprobs, 0});
    if (has_content) {
      move_to_end(piece.logprobs, std::move(undecided_));
      undecided_.clear();
    }
  }

  void add(ChatDelta delta, ChoicePiece& piece) {
    piece.reasoning += delta.reasoning;
    piece.text += cutter_.push(std::move(delta.content), num_tokens_);
    join_calls(piece.tool_calls, std::move(delta.tool_calls));
  }

  const Tokenizer& tokenizer_;
  DecoderOptions options_;
  std::unique_ptr<ChatParser> parser_;
  StopCutter cutter_;
  std::vector<LogprobEntry> undecided_;
  int num_tokens_ = 0;
};

}  // namespace

bool ChoicePiece::empty() const {
  return reasoning.empty() && text.empty() && tool_calls.empty() && logprobs.empty() &&
         token_ids.empty() && !finish;
}

void ChoicePiece::append(ChoicePiece&& next) {
  reasoning += next.reasoning;
  text += next.text;
  join_calls(tool_calls, std::move(next.tool_calls));
  move_to_end(logprobs, std::move(next.logprobs));
  move_to_end(token_ids, std::move(next.token_ids));
  num_tokens += next.num_tokens;
  num_reasoning_tokens += next.num_reasoning_tokens;
  if (next.finish) {
    finish = std::move(next.finish);
  }
}

std::unique_ptr<ChoiceDecoder> make_text_decoder(
    const Tokenizer* tokenizer, DecoderOptions options
) {
  return std::make_unique<TextDecoder>(tokenizer, std::move(options));
}

std::unique_ptr<ChoiceDecoder> make_chat_decoder(
    const Tokenizer& tokenizer, std::unique_ptr<ChatParser> parser, DecoderOptions options
) {
  return std::make_unique<ChatDecoder>(tokenizer, std::move(parser), std::move(options));
}

int num_characters(std::string_view utf8) {
  return static_cast<int>(std::ranges::count_if(utf8, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace rapt
