#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <set>
#include <vector>

#include "engine/engine.h"
#include "server/ops/engine_collector_internal.h"
#include "server/ops/metrics_internal.h"
#include "server/server.h"

namespace rapt {

namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

constexpr std::size_t kMaxIgnoredFieldNames = 100;
constexpr std::size_t kMaxIgnoredFieldLength = 64;

// vLLM's bucket bounds, so that existing dashboards read these histograms.
const Buckets& first_token_buckets() {
  static const Buckets buckets = {0.001, 0.005, 0.01, 0.02,  0.04,  0.06,  0.08, 0.1,
                                  0.25,  0.5,   0.75, 1.0,   2.5,   5.0,   7.5,  10.0,
                                  20.0,  40.0,  80.0, 160.0, 640.0, 2560.0};
  return buckets;
}

const Buckets& inter_token_buckets() {
  static const Buckets buckets = {
      0.01,
      0.025,
      0.05,
      0.075,
      0.1,
      0.15,
      0.2,
      0.3,
      0.4,
      0.5,
      0.75,
      1.0,
      2.5,
      5.0,
      7.5,
      10.0,
      20.0,
      40.0,
      80.0};
  return buckets;
}

const Buckets& whole_request_buckets() {
  static const Buckets buckets = {0.3,  0.5,   0.8,   1.0,   1.5,   2.0,    2.5,
                                  5.0,  10.0,  15.0,  20.0,  30.0,  40.0,   50.0,
                                  60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
  return buckets;
}

const Buckets& token_count_buckets() {
  static const Buckets buckets = {
      1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};
  return buckets;
}

}  // namespace

struct ServerMetrics::Impl {
  using Labels = prometheus::Labels;

  Impl(const Engine& the_engine, const std::string& the_model_name)
      : engine(the_engine),
        model_name(the_model_name),
        labels{{"engine", "0"}, {"model_name", the_model_name}},
        first_token(histogram(
            "vllm:time_to_first_token_seconds",
            "From a request's arrival to its first token.",
            first_token_buckets()
        )),
        inter_token(histogram(
            "vllm:inter_token_latency_seconds",
            "Between two tokens of one choice.",
            inter_token_buckets()
        )),
        end_to_end(histogram(
            "vllm:e2e_request_latency_seconds",
            "From a request's arrival to its last token.",
            whole_request_buckets()
        )),
        prompt_tokens(histogram(
            "vllm:request_prompt_tokens", "Prompt tokens of a request.", token_count_buckets()
        )),
        generated_tokens(histogram(
            "vllm:request_generation_tokens",
            "Generated tokens of a request.",
            token_count_buckets()
        )),
        failures(counter_family(
            "rapt:requests_failed_total", "Requests that failed after they were accepted."
        )),
        rejections(counter_family(
            "rapt:requests_rejected_total", "Requests that were refused, by the error's code."
        )),
        ignored_fields(
            counter_family("rapt:ignored_fields_total", "Request fields that nothing here knows.")
        ),
        disconnects(counter_family(
                        "rapt:client_disconnects_total", "Clients that left before their answer."
        )
                        .Add(labels)),
        tool_calls(counter_family("rapt:tool_calls_total", "Calls of tools in answers.").Add(labels)
        ) {
    prometheus::Family<prometheus::Counter>& family = counter_family(
        "rapt:harmony_repairs_total",
        "Faults in the format of the model's output that were put right, by kind."
    );
    for (std::size_t kind = 0; kind < kNumRepairKinds; ++kind) {
      Labels all = labels;
      all.emplace("kind", kRepairKindNames[kind]);
      repairs[kind] = &family.Add(all);
    }
  }

  // A metric of constants: what it says is in its labels.
  void add_attention(const std::vector<AttentionSlotInfo>& slots) {
    if (slots.empty()) {
      return;
    }
    auto& family = prometheus::BuildGauge()
                       .Name("attention_backend_info")
                       .Help("Which backend computes each part of attention, and who chose it.")
                       .Register(registry);
    for (const AttentionSlotInfo& slot : slots) {
      Labels all = labels;
      all.emplace("slot", slot.slot);
      all.emplace("backend", slot.backend);
      all.emplace("origin", slot.origin);
      family.Add(all).Set(1.0);
    }
  }

  prometheus::Histogram& histogram(
      const std::string& name, const std::string& help, const Buckets& buckets
  ) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(
        labels, buckets
    );
  }

  prometheus::Family<prometheus::Counter>& counter_family(
      const std::string& name, const std::string& help
  ) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }

  void count(
      prometheus::Family<prometheus::Counter>& family,
      const std::string& label,
      std::string_view value
  ) {
    Labels all = labels;
    all.emplace(label, value);
    family.Add(all).Increment();
  }

  const Engine& engine;
  const std::string model_name;
  const Labels labels;
  prometheus::Registry registry;
  prometheus::Histogram& first_token;
  prometheus::Histogram& inter_token;
  prometheus::Histogram& end_to_end;
  prometheus::Histogram& prompt_tokens;
  prometheus::Histogram& generated_tokens;
  prometheus::Family<prometheus::Counter>& failures;
  prometheus::Family<prometheus::Counter>& rejections;
  prometheus::Family<prometheus::Counter>& ignored_fields;
  prometheus::Counter& disconnects;
  prometheus::Counter& tool_calls;
  std::array<prometheus::Counter*, kNumRepairKinds> repairs{};

  std::mutex names_mutex;
  std::set<std::string, std::less<>> ignored_field_names;
};

ServerMetrics::ServerMetrics(
    const Engine& engine,
    const std::string& model_name,
    const std::vector<AttentionSlotInfo>& attention
)
    : impl_(std::make_unique<Impl>(engine, model_name)) {
  impl_->add_attention(attention);
}

ServerMetrics::~ServerMetrics() = default;

void ServerMetrics::observe_first_token(double seconds) {
  impl_->first_token.Observe(seconds);
}

void ServerMetrics::observe_later_token(double seconds) {
  impl_->inter_token.Observe(seconds);
}

void ServerMetrics::observe_end(double seconds, int num_prompt_tokens, int num_generated_tokens) {
  impl_->end_to_end.Observe(seconds);
  impl_->prompt_tokens.Observe(num_prompt_tokens);
  impl_->generated_tokens.Observe(num_generated_tokens);
}

void ServerMetrics::count_failure(std::string_view cause) {
  impl_->count(impl_->failures, "cause", cause);
}

void ServerMetrics::count_rejection(std::string_view cause) {
  impl_->count(impl_->rejections, "cause", cause);
}

void ServerMetrics::count_disconnect() {
  impl_->disconnects.Increment();
}

void ServerMetrics::count_repairs(const RepairCounts& counts) {
  for (std::size_t kind = 0; kind < kNumRepairKinds; ++kind) {
    if (counts[kind] > 0) {
      impl_->repairs[kind]->Increment(counts[kind]);
    }
  }
}

void ServerMetrics::count_tool_calls(int num_calls) {
  if (num_calls > 0) {
    impl_->tool_calls.Increment(num_calls);
  }
}

void ServerMetrics::count_ignored_field(std::string_view field) {
  {
    const std::lock_guard lock(impl_->names_mutex);
    auto& names = impl_->ignored_field_names;
    const bool is_plain = field.size() <= kMaxIgnoredFieldLength &&
                          std::ranges::all_of(field, [](char c) { return c > ' ' && c < 127; });
    if (!is_plain || (!names.contains(field) && names.size() >= kMaxIgnoredFieldNames)) {
      field = "other";
    } else {
      names.emplace(field);
    }
  }
  impl_->count(impl_->ignored_fields, "field", field);
}

std::string ServerMetrics::to_text() const {
  std::vector<prometheus::MetricFamily> families =
      collect_engine_stats(impl_->engine.stats(), impl_->model_name);
  std::vector<prometheus::MetricFamily> own = impl_->registry.Collect();
  families.insert(
      families.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end())
  );
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace rapt
