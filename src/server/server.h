#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "request/request.h"

namespace rapt {

class ChatFormat;
class Engine;
class Tokenizer;

// Who computes one part of attention, for the metric attention_backend_info.
struct AttentionSlotInfo {
  std::string slot;     // "decode_full"
  std::string backend;  // "cpu-flash"
  std::string origin;   // "auto", "command line", ...: who decided
};

struct ServerConfig {
  // An address or a name; "localhost" listens on 127.0.0.1 and on ::1, "::" on both families.
  std::string host = "localhost";
  int port = 8000;  // 0: any free one, see Server::port()
  // The names a request's `model` may use; the first is the one that answers carry.
  std::vector<std::string> served_model_names;
  std::vector<std::string> api_keys;  // any of them opens every route; none: no key is needed
  std::size_t max_body_bytes = 32U << 20;
  std::size_t max_header_bytes = 64U << 10;
  int num_io_threads = 2;
  // The date that chat prompts carry, YYYY-MM-DD; absent: today's local date.
  std::optional<std::string> conversation_date;
  // The model's own end tokens. Chat adds those of its format.
  std::vector<TokenId> eos_token_ids;
  // How tokens are drawn where a request does not say.
  SamplingParams sampling;
  std::string version;                  // what GET /version says
  std::string attention_report = "{}";  // JSON: what GET /v1/engine/attention says
  std::vector<AttentionSlotInfo> attention_slots;
  // /health turns 503 when the engine has work and has not finished a step for this long.
  double max_seconds_without_progress = 60.0;
  std::chrono::milliseconds idle_timeout{120'000};     // keep-alive without a request
  std::chrono::milliseconds read_timeout{30'000};      // between two pieces of one request
  std::chrono::milliseconds request_timeout{300'000};  // from a request's first byte to its last
  std::chrono::milliseconds write_timeout{60'000};     // a client that takes nothing at all
  std::chrono::milliseconds sse_keep_alive{15'000};    // a comment after so much silence
};

// The OpenAI-compatible HTTP server over one engine. It owns its listeners and IO threads; engine,
// tokenizer and chat format belong to the caller and must outlive it. All functions may be called
// from any thread but not from a request handler.
//
// An orderly end: stop_accepting(), wait_idle(), stop(). The engine may be stopped before or after
// stop(); calls that are cut off get a 503 (or an error event inside their stream).
class Server {
 public:
  // Binds, then serves until stop(). `tokenizer` may be null (then only token-id prompts work), and
  // so may `chat_format` (then there is no chat); such requests get a 400 that says so.
  static Result<std::unique_ptr<Server>> start(
      ServerConfig config, Engine& engine, const Tokenizer* tokenizer, const ChatFormat* chat_format
  );
  ~Server();

  int port() const;
  // One for each bound address, e.g. "http://127.0.0.1:8000".
  std::vector<std::string> urls() const;

  // Closes the listeners and idle connections. Requests in flight go on; new ones on connections
  // that are still open get a 503.
  void stop_accepting();
  // Waits until no request is in flight; false when `timeout` passes first.
  bool wait_idle(std::chrono::milliseconds timeout);
  // Ends what is left, cancels it in the engine and joins the IO threads. Idempotent.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rapt
