#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.h"

namespace rapt {

// An Engine without a model: every choice says the scripted reply, one token a step, all live
// requests in each step, from a thread of its own. It follows stop rules, constraints and cancels
// as the real one does, so that a server cannot tell the two apart.
class FakeEngine final : public Engine {
 public:
  FakeEngine();
  ~FakeEngine() override;

  // ---- for tests, any thread ----

  // What later requests answer. After its end it starts again, so without an end token in it a
  // request goes on until its limit.
  void set_reply(std::vector<TokenId> reply);
  // What a choice of a later request answers, and all it answers: at its end the choice ends with
  // kLength, unless an end token came. Called in submit().
  using Script = std::function<std::vector<TokenId>(const Request&, int choice)>;
  void set_script(Script script);

  // Before the first request.
  void set_size(int vocab_size, int max_model_len) {
    vocab_size_ = vocab_size;
    max_model_len_ = max_model_len;
  }

  // Makes later requests fail in their first step.
  void set_error(std::string error);
  void set_submit_outcome(SubmitOutcome outcome);
  void set_health(bool healthy, double seconds_since_progress);
  // While held no step is made; requests stay where they are.
  void hold();
  void release();
  // Makes `num_steps` more steps and then holds.
  void allow_steps(int num_steps);
  // Waits until exactly `num_live` requests are unfinished; false after 20 s.
  bool wait_live(int num_live);
  // A copy of the last request that was submitted.
  Request last_request() const;
  int num_submitted() const;

  // ---- Engine ----

  void start() override {}

  Result<void> validate(Request& request) const override;
  SubmitOutcome submit(Request request, std::shared_ptr<TokenSink> sink) override;
  void cancel(RequestId id) override;
  void begin_drain() override;
  bool is_idle() const override;
  void stop() override;
  EngineStats stats() const override;
  EngineFacts facts() const override;
  // Live requests hold one block of the first group each.
  EngineSnapshot snapshot(std::int64_t since) const override;

  int max_model_len() const override { return max_model_len_; }

  int vocab_size() const override { return vocab_size_; }

  std::string numerics_id() const override { return "fake"; }

 private:
  struct Choice {
    std::vector<TokenId> reply;
    std::size_t reply_pos = 0;
    std::unique_ptr<StopMatcher> matcher;
    std::unique_ptr<TokenConstraint> constraint;
    int num_tokens = 0;
    bool is_finished = false;
  };

  struct Live {
    Request request;
    std::shared_ptr<TokenSink> sink;
    std::string error;
    std::vector<Choice> choices;
    bool repeats = true;
    bool is_cancelled = false;
  };

  void run();
  // Gives every unfinished choice its next event; true when the request is over.
  bool step(Live& live);
  TokenEvent next_event(const Live& live, Choice& choice) const;
  // The reply's next token, or the lowest that a constraint allows in its place.
  TokenId next_token(Choice& choice) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Live> live_;
  std::vector<TokenId> reply_;
  Script script_;
  int vocab_size_ = 512;
  int max_model_len_ = 2048;
  std::string error_;
  std::optional<SubmitOutcome> submit_outcome_;
  std::optional<Request> last_request_;
  EngineStats stats_;
  int num_submitted_ = 0;
  bool is_held_ = false;
  int num_steps_left_ = -1;  // until it holds; negative: no end
  bool is_draining_ = false;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace rapt
