#include <utility>

#include "server/api/openai/answer_writers_internal.h"

namespace rapt::openai {

namespace {

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

// The reason follows what was returned. A turn that ran into its limit keeps "length": its last
// call may be half a call.
json::value chat_finish_reason(const std::optional<FinishInfo>& finish, bool has_calls) {
  if (has_calls && finish && finish->reason == FinishReason::kStop) {
    return "tool_calls";
  }
  return finish_reason_value(finish);
}

json::object call_object(const ToolCall& call) {
  json::object object;
  object["id"] = call.id;
  object["type"] = "function";
  object["function"] = json::object{{"name", call.name}, {"arguments", call.arguments}};
  return object;
}

json::array whole_calls(const std::vector<ToolCallDelta>& deltas) {
  std::vector<ToolCall> calls;
  add_deltas(calls, deltas);
  json::array array;
  for (const ToolCall& call : calls) {
    array.emplace_back(call_object(call));
  }
  return array;
}

class ChatWriter final : public AnswerWriter {
 public:
  ChatWriter(AnswerOptions options, bool include_reasoning)
      : options_(std::move(options)),
        include_reasoning_(include_reasoning),
        has_begun_(static_cast<std::size_t>(options_.num_choices)),
        has_calls_(static_cast<std::size_t>(options_.num_choices)) {}

  std::string whole(std::vector<ChoicePiece>& choices, const CallUsage& usage) override {
    json::object answer = answer_head(options_, "chat.completion");
    json::array items;
    for (std::size_t choice_idx = 0; choice_idx < choices.size(); ++choice_idx) {
      items.emplace_back(whole_choice(static_cast<int>(choice_idx), choices[choice_idx]));
    }
    answer["choices"] = std::move(items);
    answer["usage"] = usage_object(usage);
    answer["service_tier"] = nullptr;
    if (options_.with_token_ids) {
      answer["prompt_token_ids"] = token_id_array(options_.prompts.front());
    }
    return to_json_text(answer);
  }

  void stream_piece(std::string& out, int choice_idx, ChoicePiece& piece, const CallUsage& usage)
      override {
    if (!has_begun_[choice_idx]) {
      has_begun_[choice_idx] = true;
      json::object choice =
          stream_choice(choice_idx, {{"role", "assistant"}, {"content", ""}}, std::nullopt);
      append_chunk_event(out, std::move(choice), usage, true);
    }
    json::object delta;
    if (include_reasoning_ && !piece.reasoning.empty()) {
      delta["reasoning"] = piece.reasoning;
      delta["reasoning_content"] = piece.reasoning;
    }
    if (!piece.text.empty()) {
      delta["content"] = piece.text;
    }
    const bool has_ids = options_.with_token_ids && !piece.token_ids.empty();
    if (!delta.empty() || !piece.logprobs.empty() || has_ids) {
      json::object choice = stream_choice(choice_idx, std::move(delta), std::nullopt);
      if (!piece.logprobs.empty()) {
        choice["logprobs"] =
            chat_logprobs(piece.logprobs, options_.tokenizer, options_.with_token_ids);
      }
      if (options_.with_token_ids) {
        choice["token_ids"] = token_id_array(piece.token_ids);
      }
      append_chunk_event(out, std::move(choice), usage, false);
    }
    append_call_events(out, choice_idx, piece.tool_calls, usage);
    if (piece.finish) {
      append_chunk_event(out, stream_choice(choice_idx, {}, piece.finish), usage, false);
    }
  }

  void stream_end(std::string& out, const CallUsage& usage) override {
    if (options_.include_usage) {
      json::object chunk = answer_head(options_, "chat.completion.chunk");
      chunk["choices"] = json::array();
      chunk["usage"] = usage_object(usage);
      append_event(out, to_json_text(chunk));
    }
    append_done_event(out);
  }

  void stream_error(std::string& out, const Error& error) override {
    append_error_events(out, error);
  }

 private:
  json::object whole_choice(int choice_idx, const ChoicePiece& piece) const {
    json::object message;
    message["role"] = "assistant";
    const bool has_calls = !piece.tool_calls.empty();
    message["content"] = has_calls ? text_or_null(piece.text) : json::value(piece.text);
    message["refusal"] = nullptr;
    const json::value reasoning =
        include_reasoning_ ? text_or_null(piece.reasoning) : json::value(nullptr);
    message["reasoning"] = reasoning;
    message["reasoning_content"] = reasoning;
    if (has_calls) {
      message["tool_calls"] = whole_calls(piece.tool_calls);
    }
    json::object choice;
    choice["index"] = choice_idx;
    choice["message"] = std::move(message);
    choice["logprobs"] = nullptr;
    if (options_.with_logprobs) {
      choice["logprobs"] =
          chat_logprobs(piece.logprobs, options_.tokenizer, options_.with_token_ids);
    }
    choice["finish_reason"] = chat_finish_reason(piece.finish, has_calls);
    choice["stop_reason"] = stop_reason_value(piece.finish, options_);
    if (options_.with_token_ids) {
      choice["token_ids"] = token_id_array(piece.token_ids);
    }
    return choice;
  }

  // As OpenAI does: a call begins in a chunk of its own, with its id and name and no arguments.
  void append_call_events(
      std::string& out,
      int choice_idx,
      const std::vector<ToolCallDelta>& deltas,
      const CallUsage& usage
  ) {
    for (const ToolCallDelta& delta : deltas) {
      if (!delta.id.empty()) {
        has_calls_[choice_idx] = true;
        append_call_event(
            out, choice_idx, delta.index, call_object({delta.id, delta.name, ""}), usage
        );
      }
      if (!delta.arguments.empty()) {
        json::object rest;
        rest["function"] = json::object{{"arguments", delta.arguments}};
        append_call_event(out, choice_idx, delta.index, std::move(rest), usage);
      }
    }
  }

  void append_call_event(
      std::string& out,
      int choice_idx,
      int call_idx,
      const json::object& fields,
      const CallUsage& usage
  ) const {
    json::object call;
    call["index"] = call_idx;
    call.insert(fields.begin(), fields.end());
    json::object delta;
    delta["tool_calls"] = json::array{std::move(call)};
    append_chunk_event(
        out, stream_choice(choice_idx, std::move(delta), std::nullopt), usage, false
    );
  }

  json::object stream_choice(
      int choice_idx, json::object delta, const std::optional<FinishInfo>& finish
  ) const {
    json::object choice;
    choice["index"] = choice_idx;
    choice["delta"] = std::move(delta);
    choice["logprobs"] = nullptr;
    choice["finish_reason"] = chat_finish_reason(finish, has_calls_[choice_idx]);
    if (finish) {
      choice["stop_reason"] = stop_reason_value(finish, options_);
    }
    return choice;
  }

  void append_chunk_event(
      std::string& out, json::object choice, const CallUsage& usage, bool is_first
  ) const {
    json::object chunk = answer_head(options_, "chat.completion.chunk");
    json::array choices;
    choices.emplace_back(std::move(choice));
    chunk["choices"] = std::move(choices);
    add_chunk_usage(chunk, options_, usage);
    if (is_first && options_.with_token_ids) {
      chunk["prompt_token_ids"] = token_id_array(options_.prompts.front());
    }
    append_event(out, to_json_text(chunk));
  }

  AnswerOptions options_;
  bool include_reasoning_;
  std::vector<bool> has_begun_;
  std::vector<bool> has_calls_;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_chat_writer(AnswerOptions options, bool include_reasoning) {
  return std::make_unique<ChatWriter>(std::move(options), include_reasoning);
}

}  // namespace rapt::openai
