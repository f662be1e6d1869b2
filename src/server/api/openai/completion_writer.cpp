#include <utility>

#include "server/api/openai/answer_writers_internal.h"

namespace rapt::openai {

namespace {

class CompletionWriter final : public AnswerWriter {
 public:
  CompletionWriter(AnswerOptions options, std::vector<std::string> echoes)
      : options_(std::move(options)), echoes_(std::move(echoes)) {}

  std::string whole(std::vector<ChoicePiece>& choices, const CallUsage& usage) override {
    json::object answer = answer_head(options_, "text_completion");
    json::array items;
    for (std::size_t choice_idx = 0; choice_idx < choices.size(); ++choice_idx) {
      items.emplace_back(
          choice_object(static_cast<int>(choice_idx), choices[choice_idx], true, true)
      );
    }
    answer["choices"] = std::move(items);
    answer["usage"] = usage_object(usage);
    answer["service_tier"] = nullptr;
    return to_json_text(answer);
  }

  void stream_piece(std::string& out, int choice_idx, ChoicePiece& piece, const CallUsage& usage)
      override {
    if (has_begun_.size() <= static_cast<std::size_t>(choice_idx)) {
      has_begun_.resize(choice_idx + 1);
    }
    const bool is_first = !has_begun_[choice_idx];
    has_begun_[choice_idx] = true;
    json::object chunk = answer_head(options_, "text_completion");
    json::array choices;
    choices.emplace_back(choice_object(choice_idx, piece, is_first, !piece.logprobs.empty()));
    chunk["choices"] = std::move(choices);
    add_chunk_usage(chunk, options_, usage);
    append_event(out, to_json_text(chunk));
  }

  void stream_end(std::string& out, const CallUsage& usage) override {
    if (options_.include_usage) {
      json::object chunk = answer_head(options_, "text_completion");
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
  // `is_first`: this object begins its choice. `has_logprobs`: of those asked for, some are here.
  json::object choice_object(
      int choice_idx, const ChoicePiece& piece, bool is_first, bool has_logprobs
  ) const {
    const std::size_t prompt_idx = choice_idx / options_.num_choices;
    json::object choice;
    choice["index"] = choice_idx;
    choice["text"] = is_first && !echoes_.empty() ? echoes_[prompt_idx] + piece.text : piece.text;
    choice["logprobs"] = nullptr;
    if (options_.with_logprobs && has_logprobs) {
      choice["logprobs"] = completion_logprobs(piece.logprobs, options_.tokenizer);
    }
    choice["finish_reason"] = finish_reason_value(piece.finish);
    choice["stop_reason"] = stop_reason_value(piece.finish, options_);
    if (options_.with_token_ids) {
      choice["token_ids"] = token_id_array(piece.token_ids);
      if (is_first) {
        choice["prompt_token_ids"] = token_id_array(options_.prompts[prompt_idx]);
      }
    }
    return choice;
  }

  AnswerOptions options_;
  std::vector<std::string> echoes_;
  std::vector<bool> has_begun_;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_completion_writer(
    AnswerOptions options, std::vector<std::string> echoes
) {
  return std::make_unique<CompletionWriter>(std::move(options), std::move(echoes));
}

}  // namespace rapt::openai
