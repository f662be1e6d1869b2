#include <utility>

#include "server/api/openai/answer_writers_internal.h"

namespace rapt::openai {

namespace {

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

class ChatWriter final : public AnswerWriter {
 public:
  ChatWriter(AnswerOptions options, bool include_reasoning)
      : options_(std::move(options)),
        include_reasoning_(include_reasoning),
        has_begun_(static_cast<std::size_t>(options_.num_choices)) {}

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
        choice["logprobs"] = chat_logprobs(piece.logprobs, options_.tokenizer);
      }
      if (options_.with_token_ids) {
        choice["token_ids"] = token_id_array(piece.token_ids);
      }
      append_chunk_event(out, std::move(choice), usage, false);
    }
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
    message["content"] = piece.text;
    message["refusal"] = nullptr;
    const json::value reasoning =
        include_reasoning_ ? text_or_null(piece.reasoning) : json::value(nullptr);
    message["reasoning"] = reasoning;
    message["reasoning_content"] = reasoning;
    json::object choice;
    choice["index"] = choice_idx;
    choice["message"] = std::move(message);
    choice["logprobs"] = nullptr;
    if (options_.with_logprobs) {
      choice["logprobs"] = chat_logprobs(piece.logprobs, options_.tokenizer);
    }
    choice["finish_reason"] = finish_reason_value(piece.finish);
    choice["stop_reason"] = stop_reason_value(piece.finish, options_);
    if (options_.with_token_ids) {
      choice["token_ids"] = token_id_array(piece.token_ids);
    }
    return choice;
  }

  json::object stream_choice(
      int choice_idx, json::object delta, const std::optional<FinishInfo>& finish
  ) const {
    json::object choice;
    choice["index"] = choice_idx;
    choice["delta"] = std::move(delta);
    choice["logprobs"] = nullptr;
    choice["finish_reason"] = finish_reason_value(finish);
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
};

}  // namespace

std::unique_ptr<AnswerWriter> make_chat_writer(AnswerOptions options, bool include_reasoning) {
  return std::make_unique<ChatWriter>(std::move(options), include_reasoning);
}

}  // namespace rapt::openai
