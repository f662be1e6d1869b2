#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/jinja/call_reader_internal.h"
#include "text/chat/jinja/output_style_internal.h"

namespace rapt::jinja {

// Reads the output of a model whose prompts come from a Jinja template: plain text, thinking in
// tags, calls in one of the common forms. A call counts when its name is a declared tool's;
// anything else that looks like one is shown as the text that it is. One choice, one thread.
class JinjaChatParser final : public ChatParser {
 public:
  struct Options {
    OutputStyle style = {};
    bool begins_thinking = false;  // the prompt has opened the tag already
    std::vector<std::string> tool_names = {};
    std::string id_seed = {};
  };

  // `tokenizer` must outlive this.
  JinjaChatParser(const Tokenizer& tokenizer, Options options);

  ChatDelta push(TokenId token) override;
  ChatDelta finish() override;

  bool in_reasoning() const override { return state_ == State::kThinking; }

  int num_tool_calls() const override { return num_calls_; }

  RepairCounts repairs() const override { return repairs_; }

 private:
  enum class State {
    kText,
    kThinking,
    kCallsBegin,  // behind [TOOL_CALLS]: a list, an object or a name
    kCallName,    // inside a name
    kCall,        // inside a call's object
    kCallEnd,     // behind one: another, or the end
  };

  // One of the two texts that the client sees. White space at its ends is the template's business,
  // so where something else goes before or behind, it is left out.
  struct Stream {
    std::string delta = {};
    std::string held = {};  // white space that may be the last
    bool has_text = false;  // since it began, or began again
    bool was_used = false;
    bool trims_begin = false;
    bool trims_end = false;

    void add(std::string_view text);
  };

  void take(const TagScanner::Piece& piece);
  void take_tag(TagName name);
  void take_text(std::string_view text);
  // Each handles the beginning of `text`, and says how much of it that was.
  std::size_t take_plain(std::string_view text);
  std::size_t take_calls_begin(std::string_view text);
  std::size_t take_call_name(std::string_view text);
  std::size_t take_call(std::string_view text);
  std::size_t take_call_end(std::string_view text);

  void end_thinking();
  void begin_call(CallReader reader, std::string prefix);
  void begin_named_call(std::string_view tag);
  void announce_call();
  void add_arguments(const std::string& text);
  void end_call();
  // It is no call: shows what was read as text.
  void give_up_call(RepairKind why);

  void count(RepairKind kind) { ++repairs_[static_cast<std::size_t>(kind)]; }

  bool is_declared(std::string_view name) const;
  ChatDelta take_delta();

  Options options_;
  StyleTags tags_;
  TagScanner scanner_;
  State state_ = State::kText;
  Stream reasoning_;
  Stream content_;
  CallReader call_;
  std::string call_prefix_;  // what stood before the object, should it turn out to be text
  std::string call_text_;    // the arguments so far
  bool is_announced_ = false;
  bool has_given_up_ = false;  // until the tag that would have ended the call
  int num_calls_ = 0;
  std::vector<ToolCallDelta> call_deltas_;
  RepairCounts repairs_ = {};
};

}  // namespace rapt::jinja
