#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "request/request.h"
#include "server/api/choice_decoder_internal.h"
#include "server/api/event_mailbox_internal.h"
#include "server/http/responder_internal.h"

namespace rapt {

class Engine;
class EngineCall;
class ServerMetrics;

struct CallUsage {
  int num_prompt_tokens = 0;
  int num_completion_tokens = 0;
  int num_reasoning_tokens = 0;
};

// Puts answers into one dialect's shape. One an API call, on the connection's thread of execution.
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  // The body of an answer that is not streamed; `choices` in the order of their indices.
  virtual std::string whole(std::vector<ChoicePiece>& choices, const CallUsage& usage) = 0;
  // Adds the events that show `piece`. Called in order for each choice; not called without news.
  virtual void stream_piece(
      std::string& out, int choice_idx, ChoicePiece& piece, const CallUsage& usage
  ) = 0;
  // Adds what follows the last piece of the last choice.
  virtual void stream_end(std::string& out, const CallUsage& usage) = 0;
  // Adds the events that end a stream with an error.
  virtual void stream_error(std::string& out, const Error& error) = 0;
};

// The API calls that are in the engine. Any thread.
class CallRegistry {
 public:
  void add(const std::shared_ptr<EngineCall>& call);
  void remove(const EngineCall* call);
  // Ends every call with `error`, soon.
  void fail_all(const Error& error);
  // Cuts every call off from the engine and from its connection, at once and without an answer.
  // Only when no IO thread runs any more.
  void abandon_all();
  int size() const;

 private:
  std::vector<std::shared_ptr<EngineCall>> all() const;

  mutable std::mutex mutex_;
  std::unordered_map<const EngineCall*, std::shared_ptr<EngineCall>> calls_;
};

// What one API call asks of the engine.
struct CallPlan {
  std::string client_id;                                 // the answer's id
  std::string request_id;                                // the HTTP request's
  std::vector<Request> requests;                         // validated; one a prompt
  std::vector<std::unique_ptr<ChoiceDecoder>> decoders;  // [num_requests * num_choices]
  int num_choices = 1;                                   // of each request
  std::unique_ptr<AnswerWriter> writer;
  bool stream = false;
  std::chrono::milliseconds keep_alive{15'000};
  std::chrono::steady_clock::time_point arrival;
};

// One API call on its way through the engine: submits its requests, collects their events, answers,
// and cancels them when the client leaves. Everything happens on the connection's thread of
// execution. While the client takes data slowly, events stay in the mailbox in their compact form
// and are joined into fewer, larger deltas later; so a slow reader costs little memory.
class EngineCall final : public std::enable_shared_from_this<EngineCall> {
 public:
  EngineCall(
      CallPlan plan,
      Engine& engine,
      ServerMetrics& metrics,
      CallRegistry& registry,
      std::shared_ptr<Responder> responder
  );

  void start();
  // From any thread.
  void fail_soon(const Error& error);
  void abandon();

 private:
  using Clock = std::chrono::steady_clock;

  bool submit_all();
  void drain();
  void take_event(const TokenEvent& event);
  void note_token_time(int request_idx, int choice_idx);
  void write_pieces();
  void complete();
  void client_gone();
  void fail(const Error& error);
  void cancel_all();
  void leave();

  CallPlan plan_;
  Engine& engine_;
  ServerMetrics& metrics_;
  CallRegistry& registry_;
  std::shared_ptr<Responder> responder_;
  std::shared_ptr<EventMailbox> mailbox_;

  std::unordered_map<RequestId, int> request_idx_;
  std::vector<TokenEvent> events_;
  std::vector<ChoicePiece> pieces_;  // streamed: since the last write; else: so far
  std::vector<std::optional<Clock::time_point>> last_token_;  // of each choice
  std::vector<bool> has_token_;                               // of each request
  std::optional<Error> failure_;
  CallUsage usage_;
  int num_unfinished_ = 0;
  bool is_over_ = false;
  bool is_waiting_for_client_ = false;
};

}  // namespace rapt
