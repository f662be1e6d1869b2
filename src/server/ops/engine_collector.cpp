#include <utility>

#include "engine/engine.h"
#include "server/ops/engine_collector_internal.h"

namespace rapt {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using ExtraLabels = std::vector<ClientMetric::Label>;

class Builder {
 public:
  explicit Builder(const std::string& model_name) : model_name_(model_name) {}

  void gauge(
      const std::string& name, const std::string& help, double value, ExtraLabels extra = {}
  ) {
    ClientMetric metric = labelled(std::move(extra));
    metric.gauge.value = value;
    add(name, help, MetricType::Gauge, std::move(metric));
  }

  void counter(
      const std::string& name, const std::string& help, std::uint64_t value, ExtraLabels extra = {}
  ) {
    ClientMetric metric = labelled(std::move(extra));
    metric.counter.value = static_cast<double>(value);
    add(name, help, MetricType::Counter, std::move(metric));
  }

  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  ClientMetric labelled(ExtraLabels extra) const {
    ClientMetric metric;
    metric.label = {{"engine", "0"}, {"model_name", model_name_}};
    metric.label.insert(metric.label.end(), extra.begin(), extra.end());
    return metric;
  }

  // Metrics of one name follow each other and share a family.
  void add(const std::string& name, const std::string& help, MetricType type, ClientMetric metric) {
    if (families_.empty() || families_.back().name != name) {
      families_.push_back({name, help, type, {}});
    }
    families_.back().metric.push_back(std::move(metric));
  }

  const std::string& model_name_;
  std::vector<MetricFamily> families_;
};

}  // namespace

std::vector<MetricFamily> collect_engine_stats(
    const EngineStats& stats, const std::string& model_name
) {
  Builder families(model_name);
  families.gauge("vllm:num_requests_running", "Sequences that hold KV blocks.", stats.num_running);
  families.gauge(
      "vllm:num_requests_waiting", "Sequences that wait for admission.", stats.num_waiting
  );
  families.gauge(
      "vllm:kv_cache_usage_perc",
      "Used share of the fullest KV block pool, 0 to 1.",
      stats.kv_cache_usage
  );
  families.gauge(
      "vllm:cache_config_info",
      "The KV cache's configuration, in labels.",
      1.0,
      {{"num_gpu_blocks", std::to_string(stats.num_blocks_total)}}
  );
  families.counter("vllm:prompt_tokens_total", "Prompt tokens processed.", stats.num_prompt_tokens);
  families.counter("vllm:generation_tokens_total", "Tokens generated.", stats.num_generated_tokens);
  const std::pair<const char*, std::uint64_t> finished[] = {
      {"stop", stats.num_finished_stop},
      {"length", stats.num_finished_length},
      {"abort", stats.num_finished_abort},
      {"error", stats.num_finished_error},
  };
  for (const auto& [reason, count] : finished) {
    families.counter(
        "vllm:request_success_total",
        "Finished sequences by reason.",
        count,
        {{"finished_reason", reason}}
    );
  }
  families.gauge("rapt:kv_blocks_used", "KV blocks in use, all pools.", stats.num_blocks_used);
  families.gauge("rapt:kv_blocks_total", "KV blocks, all pools.", stats.num_blocks_total);
  families.counter("rapt:engine_steps_total", "Engine steps finished.", stats.num_steps);
  families.gauge(
      "rapt:max_step_tokens",
      "Tokens that the last step could have had; fewer while answers are being written.",
      stats.max_step_tokens
  );
  families.gauge(
      "rapt:engine_healthy", "1 until a failure ends serving.", stats.healthy ? 1.0 : 0.0
  );
  families.gauge(
      "rapt:engine_seconds_since_progress",
      "Seconds since the last finished step; 0 while idle.",
      stats.seconds_since_progress
  );
  return families.take();
}

}  // namespace rapt
