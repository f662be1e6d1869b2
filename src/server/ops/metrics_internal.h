#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_repairs.h"

namespace rapt {

class Engine;
struct AttentionSlotInfo;

// What the server counts, and the text of GET /metrics. Names are vLLM's where vLLM has the metric
// and rapt: ones elsewhere; all carry the labels model_name and engine. Engine figures are read
// when somebody asks, so the engine thread does nothing for them. Any thread.
class ServerMetrics {
 public:
  // `attention` tells which backends run, for the metric attention_backend_info.
  ServerMetrics(
      const Engine& engine,
      const std::string& model_name,
      const std::vector<AttentionSlotInfo>& attention = {}
  );
  ~ServerMetrics();

  void observe_first_token(double seconds);
  // `seconds` after the token before it.
  void observe_later_token(double seconds);
  void observe_end(double seconds, int num_prompt_tokens, int num_generated_tokens);

  void count_failure(std::string_view cause);
  void count_rejection(std::string_view cause);
  void count_disconnect();
  void count_repairs(const RepairCounts& counts);
  void count_tool_calls(int num_calls);
  // Names come from clients: beyond a fixed number of them all others count as "other".
  void count_ignored_field(std::string_view field);

  // Prometheus text format 0.0.4.
  std::string to_text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rapt
