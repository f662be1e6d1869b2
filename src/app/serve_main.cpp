#include <signal.h>

#include <chrono>
#include <string>

#include "app/commands.h"
#include "app/loaded_model.h"
#include "base/json.h"
#include "base/log.h"
#include "server/server.h"

namespace rapt {

namespace {

using Seconds = std::chrono::duration<double>;

// SIGTERM and SIGINT, taken by the main thread alone: it blocks them before any other thread
// starts, and waits for them.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }

  int wait() {
    int number = 0;
    sigwait(&signals_, &number);
    return number;
  }

  // Whether one is pending; takes it.
  bool poll() {
    const timespec no_time = {};
    return sigtimedwait(&signals_, nullptr, &no_time) > 0;
  }

 private:
  sigset_t signals_;
};

void log_settings(const LoadOptions& options) {
  std::string text;
  for (const FlagSetting& setting : options.settings) {
    if (setting.source != FlagSource::kDefault) {
      text += (text.empty() ? "" : " ") + setting.name + "=" + setting.text + " (" +
              std::string(name_of(setting.source)) + ")";
    }
  }
  LOG_INFO("configuration", kv("settings", text.empty() ? "all defaults" : text));
}

ServerConfig server_config(const ServeOptions& options, const LoadedModel& model) {
  ServerConfig config;
  config.host = options.host;
  config.port = options.port;
  config.served_model_names = options.served_model_names;
  if (config.served_model_names.empty()) {
    config.served_model_names.push_back(options.load.model);
  }
  config.api_keys = options.api_keys;
  config.eos_token_ids = model.info.eos_token_ids;
  config.sampling = model.sampling(options.sampling);
  constexpr std::string_view kProgram = "rapt ";  // GET /version answers with the bare number
  config.version = version_text().substr(kProgram.size());
  config.attention_report = to_json_text(plan_json(model.attention));
  for (const SlotPlan& slot : model.attention.slots) {
    if (slot.is_used) {
      config.attention_slots.push_back(
          {std::string(key_of(slot.slot)),
           std::string(slot.backend->name),
           std::string(name_of(slot.choice.origin))}
      );
    }
  }
  if (options.conversation_date != "today") {
    config.conversation_date = options.conversation_date;
  }
  return config;
}

// Takes no more requests, lets those in flight end, and gives up when the time is over or a second
// signal comes.
void drain(Server& server, Engine& engine, double timeout_seconds, StopSignals& signals) {
  server.stop_accepting();
  engine.begin_drain();
  const auto deadline = std::chrono::steady_clock::now() + Seconds(timeout_seconds);
  while (!server.wait_idle(std::chrono::milliseconds(100))) {
    if (signals.poll()) {
      LOG_WARNING("second signal: ending requests in flight");
      return;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      LOG_WARNING("shutdown timeout: ending requests in flight", kv("seconds", timeout_seconds));
      return;
    }
  }
}

Result<void> serve(const ServeOptions& options) {
  StopSignals signals;
  ASSIGN_OR_RETURN(LoadedModel model, load_for_command(options.load));
  log_settings(options.load);
  const SamplingParams sampling = model.sampling(options.sampling);
  LOG_INFO(
      "tokens are drawn so, where requests do not say",
      kv("temperature", sampling.temperature),
      kv("top_p", sampling.top_p),
      kv("top_k", sampling.top_k),
      kv("min_p", sampling.min_p)
  );
  model.engine->start();
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Server> server,
      Server::start(
          server_config(options, model),
          *model.engine,
          model.tokenizer.get(),
          model.chat_format.get()
      )
  );
  const int number = signals.wait();
  LOG_INFO("stopping", kv("signal", number));
  drain(*server, *model.engine, options.shutdown_timeout_seconds, signals);
  server->stop();
  model.engine->stop();
  LOG_INFO("stopped");
  return {};
}

}  // namespace

int serve_main(const ServeOptions& options) {
  const Result<void> result = serve(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
