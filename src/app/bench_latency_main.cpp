#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <random>

#include "app/bench_measure.h"
#include "app/commands.h"
#include "app/loaded_model.h"
#include "base/cpu_info.h"
#include "kernels/peaks.h"

// `rapt bench latency`: how long prompts and single tokens take, through the engine that serves:
// same scheduler, same chunks, random tokens. A prompt ends with its first token. A decode step
// counts when every sequence takes part in it.

namespace rapt {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// When each token of a group of requests came.
class TokenTimes : public TokenSink {
 public:
  explicit TokenTimes(int num_requests) : num_open_(num_requests) {}

  void on_event(const TokenEvent& event) override {
    const std::lock_guard lock(mutex_);
    if (event.token) {
      times_[event.request_id].push_back(Clock::now());
    }
    if (event.finish) {
      error_ = event.finish->reason == FinishReason::kError ? event.finish->error : error_;
      --num_open_;
    }
    changed_.notify_all();
  }

  // Waits until every request has that many tokens or has ended.
  void wait_for(std::size_t num_requests, std::size_t num_tokens) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      std::size_t num_ready = 0;
      for (const auto& [id, times] : times_) {
        num_ready += times.size() >= num_tokens ? 1U : 0U;
      }
      return num_ready == num_requests || num_open_ == 0 || !error_.empty();
    });
  }

  void wait_until_ended() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return num_open_ == 0; });
  }

  // After the end.
  const std::string& error() const { return error_; }

  Clock::time_point last_first_token() const {
    Clock::time_point last = times_.begin()->second.front();
    for (const auto& [id, times] : times_) {
      last = std::max(last, times.front());
    }
    return last;
  }

  // Lengths of the steps that every request took part in.
  std::vector<double> shared_steps() const {
    Clock::time_point end = times_.begin()->second.back();
    for (const auto& [id, times] : times_) {
      end = std::min(end, times.back());
    }
    const auto& times = times_.begin()->second;
    std::vector<double> steps;
    for (std::size_t idx = 1; idx < times.size(); ++idx) {
      if (times[idx - 1] >= last_first_token() && times[idx] <= end) {
        steps.push_back(seconds_between(times[idx - 1], times[idx]));
      }
    }
    return steps;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RequestId, std::vector<Clock::time_point>> times_;
  int num_open_;
  std::string error_;
};

// Bytes of weights that a step of `num_sequences` single tokens reads; of experts, what evenly
// spread routing makes likely.
double step_weight_bytes(const std::vector<ModelLinear>& linears, int num_sequences) {
  double sum = 0.0;
  for (const ModelLinear& linear : linears) {
    const auto num_matrices = static_cast<double>(linear.method->num_matrices());
    const double share_left =
        std::pow(1.0 - static_cast<double>(linear.num_active) / num_matrices, num_sequences);
    sum += static_cast<double>(linear.method->num_bytes()) * (1.0 - share_left);
  }
  return sum;
}

double step_kv_bytes(const ModelInfo& info, const EngineConfig& config, int depth) {
  double sum = 0.0;
  for (const ModelKVGroup& group : info.kv_groups) {
    const int seen = group.window > 0 ? std::min(depth, group.window) : depth;
    sum += 2.0 * group.num_layers * static_cast<double>(group.num_kv_heads * group.head_dim) * seen;
  }
  return sum * size_of(config.kv_cache_dtype);
}

class LatencyBench {
 public:
  LatencyBench(
      const BenchOptions& options, LoadedModel& model, ThreadPool& pool, const ReadMeter& meter
  )
      : options_(options), model_(model), pool_(pool), meter_(meter) {}

  Result<void> run_all();

  json::array rows;

 private:
  struct Times {
    double prefill_seconds = 0.0;
    std::vector<double> steps;
  };

  Result<Times> run(int num_sequences, int num_prompt, int num_steps);
  Result<void> prefill(int num_prompt);
  Result<void> decode(int num_sequences, int depth);

  const BenchOptions& options_;
  LoadedModel& model_;
  ThreadPool& pool_;
  const ReadMeter& meter_;
  BenchTable table_{{"test", "tokens/s", "best", "median ms", "GB/s", "of read limit"}};
  RequestId next_id_ = 1;
};

Result<LatencyBench::Times> LatencyBench::run(int num_sequences, int num_prompt, int num_steps) {
  std::mt19937 generator(static_cast<unsigned>(next_id_));
  // The engine drops its share with the last event, which may be after an early return.
  const std::shared_ptr<TokenSink> shared_sink(new TokenTimes(num_sequences));
  TokenTimes& sink = static_cast<TokenTimes&>(*shared_sink);
  const Clock::time_point begin = Clock::now();
  const RequestId first_id = next_id_;
  for (int idx = 0; idx < num_sequences; ++idx) {
    Request request;
    request.id = next_id_++;
    for (int token = 0; token < num_prompt; ++token) {
      request.prompt.push_back(
          static_cast<TokenId>(generator() % static_cast<unsigned>(model_.info.vocab_size))
      );
    }
    request.sampling.temperature = 0.0F;
    request.stop.ignore_eos = true;
    // With several sequences, the first ones decode while the last prompts are still computed.
    const int most_prompt_steps =
        num_sequences * (2 + 2 * num_prompt / options_.load.engine.max_num_batched_tokens);
    request.stop.max_tokens = 1 + num_steps + (num_sequences == 1 ? 0 : 64 + most_prompt_steps);
    RETURN_IF_ERROR(model_.engine->validate(request));
    if (model_.engine->submit(std::move(request), shared_sink) != SubmitOutcome::kAccepted) {
      return internal_error("the engine takes no more requests");
    }
  }
  const auto count = static_cast<std::size_t>(num_sequences);
  sink.wait_for(count, 1);
  if (num_sequences > 1) {
    // The sequence that came last has the fewest tokens.
    sink.wait_for(count, static_cast<std::size_t>(num_steps) + 1);
    for (RequestId id = first_id; id < next_id_; ++id) {
      model_.engine->cancel(id);
    }
  }
  sink.wait_until_ended();
  if (!sink.error().empty()) {
    return internal_error(sink.error());
  }
  Times times;
  times.prefill_seconds = seconds_between(begin, sink.last_first_token());
  times.steps = sink.shared_steps();
  if (times.steps.size() > static_cast<std::size_t>(num_steps)) {
    times.steps.resize(static_cast<std::size_t>(num_steps));
  }
  return times;
}

Result<void> LatencyBench::prefill(int num_prompt) {
  std::vector<double> seconds;
  for (int round = 0; round < options_.repeat; ++round) {
    ASSIGN_OR_RETURN(const Times times, run(1, num_prompt, 0));
    seconds.push_back(times.prefill_seconds);
  }
  const double median = median_of(seconds);
  const double tokens_per_second = num_prompt / median;
  const std::string name = "prefill " + std::to_string(num_prompt);
  table_.add(
      {name,
       rounded(tokens_per_second, 1),
       rounded(num_prompt / least_of(seconds), 1),
       rounded(median * 1e3, 1),
       "",
       ""}
  );
  rows.push_back(
      {{"test", "prefill"},
       {"prompt_tokens", num_prompt},
       {"tokens_per_second", tokens_per_second},
       {"seconds", to_json(seconds)}}
  );
  return {};
}

Result<void> LatencyBench::decode(int num_sequences, int depth) {
  std::vector<double> medians;
  std::vector<double> all;
  std::vector<double> limits;
  for (int round = 0; round < options_.repeat; ++round) {
    limits.push_back(meter_.gbps(pool_));
    ASSIGN_OR_RETURN(const Times times, run(num_sequences, depth, options_.decode_tokens));
    medians.push_back(median_of(times.steps));
    all.insert(all.end(), times.steps.begin(), times.steps.end());
  }
  const double median = median_of(all);
  const double bytes =
      step_weight_bytes(model_.linears, num_sequences) +
      num_sequences *
          step_kv_bytes(model_.info, options_.load.engine, depth + options_.decode_tokens / 2);
  const double gbps = bytes / median / 1e9;
  const double limit = median_of(limits);
  table_.add(
      {"decode " + std::to_string(options_.decode_tokens) + " x " + std::to_string(num_sequences) +
           " at " + std::to_string(depth),
       rounded(num_sequences / median, 2),
       rounded(num_sequences / least_of(all), 2),
       rounded(median * 1e3, 2),
       rounded(gbps, 1),
       rounded(100.0 * gbps / limit, 0) + " %"}
  );
  rows.push_back(
      {{"test", "decode"},
       {"sequences", num_sequences},
       {"depth", depth},
       {"decode_tokens", options_.decode_tokens},
       {"tokens_per_second", num_sequences / median},
       {"step_seconds_median", median},
       {"step_seconds_best", least_of(all)},
       {"round_medians", to_json(medians)},
       {"bytes_per_step", bytes},
       {"gb_per_second", gbps},
       {"read_limit_gb_per_second", to_json(limits)},
       {"share_of_read_limit", gbps / limit}}
  );
  return {};
}

Result<void> LatencyBench::run_all() {
  ASSIGN_OR_RETURN([[maybe_unused]] const Times warm, run(1, 64, 4));
  for (const int num_prompt : options_.prompt_tokens) {
    if (num_prompt > 0) {
      RETURN_IF_ERROR(prefill(num_prompt));
    }
  }
  for (const int depth : options_.depths) {
    for (const int num_sequences : options_.sequences) {
      RETURN_IF_ERROR(decode(num_sequences, std::max(depth, 1)));
    }
  }
  if (!options_.json) {
    table_.print();
  }
  return {};
}

Result<void> bench_latency(const BenchOptions& given) {
  BenchOptions options = given;
  const int most = *std::max_element(options.sequences.begin(), options.sequences.end());
  options.load.engine.max_num_seqs = std::max(options.load.engine.max_num_seqs, most);
  ASSIGN_OR_RETURN(LoadedModel model, load_for_command(options.load));
  const int num_threads = options.load.engine.num_threads > 0 ? options.load.engine.num_threads
                                                              : detect_cpu().num_usable_cores;
  ThreadPool pool(num_threads);
  ASSIGN_OR_RETURN(const ReadMeter meter, ReadMeter::create(pool));
  model.engine->start();
  model.engine->wait_for_weights();
  LatencyBench bench(options, model, pool, meter);
  RETURN_IF_ERROR(bench.run_all());
  model.engine->stop();
  if (options.json) {
    const json::value report = {
        {"model", model.path},
        {"machine", describe_machine()},
        {"threads", num_threads},
        {"numerics", model.engine->numerics_id()},
        {"repeat", options.repeat},
        {"tests", bench.rows},
    };
    std::printf("%s\n", to_json_text(report).c_str());
  }
  return {};
}

}  // namespace

int bench_latency_main(const BenchOptions& options) {
  const Result<void> result = bench_latency(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
