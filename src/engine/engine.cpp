#include "engine/engine.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/cpu_info.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "engine/attention_choice.h"
#include "engine/engine_view_internal.h"
#include "engine/memory_plan.h"
#include "engine/model_runner.h"
#include "engine/validate_internal.h"
#include "engine/weights/weight_keeper.h"
#include "kvcache/kv_cache_manager.h"
#include "models/model.h"
#include "scheduler/scheduler.h"

namespace rapt {

namespace {

// As numerics_id() writes it.
std::string_view kv_name_of(DType dtype) {
  return dtype == DType::kF32 ? "kvf32-" : dtype == DType::kF8E4M3 ? "kvfp8-" : "kvbf16-";
}

using Clock = std::chrono::steady_clock;

// Requests that are sent together come within a few milliseconds of each other.
constexpr std::chrono::milliseconds kGatheringTime(20);

KVCacheManager make_kv_manager(const MemoryPlan& plan, const ModelInfo& info) {
  std::vector<KVGroupSpec> specs;
  std::vector<int> num_blocks;
  for (std::size_t idx = 0; idx < plan.kv_groups.size(); ++idx) {
    const int window = info.kv_groups[idx].window;
    specs.push_back(KVGroupSpec{
        window > 0 ? KVGroupKind::kSliding : KVGroupKind::kFull,
        window,
        info.kv_groups[idx].num_layers});
    num_blocks.push_back(plan.kv_groups[idx].num_blocks);
  }
  return KVCacheManager(std::move(specs), num_blocks, plan.block_size);
}

class EngineImpl : public Engine {
 public:
  EngineImpl(
      const EngineConfig& config,
      const MemoryPlan& plan,
      std::unique_ptr<Model> model,
      std::unique_ptr<ThreadPool> pool,
      std::unique_ptr<ModelRunner> runner,
      std::unique_ptr<WeightKeeper> weights
  )
      : config_(config),
        plan_(plan),
        model_(std::move(model)),
        pool_(std::move(pool)),
        runner_(std::move(runner)),
        weights_(std::move(weights)),
        kv_(make_kv_manager(plan, model_->info())),
        scheduler_(
            SchedulerConfig{
                .max_num_seqs = config.max_num_seqs,
                .max_num_batched_tokens = config.max_num_batched_tokens,
                .max_model_len = plan.max_model_len,
                .pace = {.target_seconds = 1e-3 * config.inter_token_target_ms},
            },
            kv_
        ),
        view_(scheduler_, kv_) {
    stats_.num_blocks_total = kv_.num_blocks_total();
  }

  ~EngineImpl() override { stop(); }

  void start() override {
    CHECK(!thread_.joinable(), "started twice");
    thread_ = std::thread([this] { run(); });
    weights_->start([this](const std::function<void()>& task) { return run_between_steps(task); });
  }

  Result<void> validate(Request& request) const override {
    return validate_request(request, plan_.max_model_len, vocab_size());
  }

  SubmitOutcome submit(Request request, std::shared_ptr<TokenSink> sink) override {
    const std::lock_guard lock(mutex_);
    if (!stats_.healthy) {
      return SubmitOutcome::kUnhealthy;
    }
    if (is_draining_ || is_stopping_) {
      return SubmitOutcome::kShuttingDown;
    }
    // What waits already counts, not what this request brings: an idle engine refuses nobody.
    if (stats_.num_waiting + num_submitted_ >= config_.max_queued_requests) {
      return SubmitOutcome::kQueueFull;
    }
    if (!is_busy()) {
      last_progress_ = Clock::now();
    }
    num_submitted_ += request.num_choices;
    submitted_.push_back(Record{
        .request = std::move(request), .sink = std::move(sink), .last_token = Clock::now()});
    wake_.notify_one();
    return SubmitOutcome::kAccepted;
  }

  void cancel(RequestId id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
    wake_.notify_one();
  }

  void begin_drain() override {
    const std::lock_guard lock(mutex_);
    is_draining_ = true;
  }

  bool is_idle() const override {
    const std::lock_guard lock(mutex_);
    return !is_busy();
  }

  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
      wake_.notify_one();
      task_done_.notify_one();
    }
    weights_->stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  void wait_for_weights() override { weights_->wait(); }

  EngineStats stats() const override {
    const std::lock_guard lock(mutex_);
    EngineStats stats = stats_;
    stats.num_waiting += num_submitted_;
    if (is_busy()) {
      stats.seconds_since_progress =
          std::chrono::duration<double>(Clock::now() - last_progress_).count();
    }
    return stats;
  }

  EngineFacts facts() const override;

  EngineSnapshot snapshot(std::int64_t since) const override { return view_.read(since); }

  int max_model_len() const override { return plan_.max_model_len; }

  int vocab_size() const override { return model_->info().vocab_size; }

  std::string numerics_id() const override {
    return "2-" + std::string(name_of(config_.linear_mode)) + "-" +
           std::string(kv_name_of(config_.kv_cache_dtype)) + config_.attention->numerics_class;
  }

 private:
  // A request and where its events go, from submit() to the end of its last choice.
  struct Record {
    Request request;
    std::shared_ptr<TokenSink> sink;
    int num_open = 0;              // choices that have not ended
    Clock::time_point last_token;  // until there is one: when the request came
    bool has_token = false;
  };

  // Needs mutex_.
  bool is_busy() const { return stats_.num_running + stats_.num_waiting + num_submitted_ > 0; }

  void run();
  bool run_between_steps(const std::function<void()>& task);
  bool take_messages();
  void step();
  void publish(std::span<const TokenEvent> events);
  void update_stats();
  void fail_all(const std::string& why);

  const EngineConfig config_;
  const MemoryPlan plan_;
  const std::unique_ptr<Model> model_;
  const std::unique_ptr<ThreadPool> pool_;
  const std::unique_ptr<ModelRunner> runner_;
  const std::unique_ptr<WeightKeeper> weights_;

  // Engine thread only, from start() on.
  KVCacheManager kv_;
  Scheduler scheduler_;
  EngineView view_;  // its read() is for anybody
  std::unordered_map<RequestId, std::unique_ptr<Record>> records_;
  std::vector<Record> arriving_;
  std::vector<RequestId> leaving_;
  EngineStats counters_;  // only what steps count; copied into stats_

  // Shared with the other threads.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  const std::function<void()>* task_ = nullptr;  // to run between two steps
  std::condition_variable task_done_;
  std::vector<Record> submitted_;
  std::vector<RequestId> cancelled_;
  int num_submitted_ = 0;  // choices in submitted_
  bool is_draining_ = false;
  bool is_stopping_ = false;
  EngineStats stats_;
  Clock::time_point last_progress_ = Clock::now();

  std::thread thread_;
};

void EngineImpl::run() {
  set_compute_float_mode();
  try {
    while (take_messages()) {
      step();
      update_stats();
    }
    publish(scheduler_.end_all(FinishInfo{.reason = FinishReason::kAbort}));
    update_stats();
  } catch (const std::exception& e) {
    fail_all(e.what());
  }
}

// One caller at a time. The task runs under the lock and must be short.
bool EngineImpl::run_between_steps(const std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  wake_.notify_one();
  task_done_.wait(lock, [this] { return task_ == nullptr || is_stopping_; });
  return std::exchange(task_, nullptr) == nullptr;
}

// Sleeps until there is something to do, then takes in what arrived. False: time to stop.
bool EngineImpl::take_messages() {
  {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] {
      return is_stopping_ || !submitted_.empty() || !cancelled_.empty() || !scheduler_.is_idle() ||
             task_ != nullptr;
    });
    if (!submitted_.empty() && scheduler_.is_idle() && scheduler_.gains_by_company()) {
      wake_.wait_for(lock, kGatheringTime, [this] { return is_stopping_; });
    }
    if (task_ != nullptr) {
      (*task_)();
      task_ = nullptr;
      task_done_.notify_one();
    }
    std::swap(arriving_, submitted_);
    std::swap(leaving_, cancelled_);
    stats_.num_waiting += std::exchange(num_submitted_, 0);
    if (is_stopping_ && arriving_.empty()) {
      return false;
    }
  }
  for (Record& arrived : arriving_) {
    const RequestId id = arrived.request.id;
    const auto record = std::make_unique<Record>(std::move(arrived));
    auto [place, is_new] = records_.emplace(id, nullptr);
    CHECK(is_new, "request id ", id, " is in use");
    place->second = std::make_unique<Record>(std::move(*record));
    Record& kept = *place->second;
    kept.num_open = kept.request.num_choices;
    for (int choice = 0; choice < kept.request.num_choices; ++choice) {
      scheduler_.add(make_sequence(kept.request, choice));
    }
  }
  arriving_.clear();
  for (const RequestId id : leaving_) {
    publish(scheduler_.cancel(id));
  }
  leaving_.clear();
  view_.note_idle();
  const std::lock_guard lock(mutex_);
  return !is_stopping_;
}

void EngineImpl::step() {
  if (scheduler_.is_idle()) {
    return;
  }
  const StepPlan& plan = scheduler_.plan();
  {
    // Before anybody hears of this step: who gets a token of it does not count as waiting.
    const SchedulerStats scheduled = scheduler_.stats();
    const std::lock_guard lock(mutex_);
    stats_.num_running = scheduled.num_running;
    stats_.num_waiting = scheduled.num_waiting;
  }
  view_.begin_step(plan);
  const Clock::time_point begin = Clock::now();
  const StepResult& result = runner_->run(plan);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ++counters_.num_steps;
  counters_.num_prompt_tokens += static_cast<std::uint64_t>(plan.num_prompt_tokens);
  counters_.num_generated_tokens += static_cast<std::uint64_t>(plan.num_sampled);
  counters_.max_step_tokens = plan.max_tokens;
  publish(scheduler_.commit(result, seconds));
  view_.end_step(plan.num_prompt_tokens, plan.num_sampled);
}

void EngineImpl::publish(std::span<const TokenEvent> events) {
  const Clock::time_point now = Clock::now();
  for (const TokenEvent& event : events) {
    const auto place = records_.find(event.request_id);
    CHECK(place != records_.end(), "an event of request ", event.request_id);
    Record& record = *place->second;
    if (event.token && record.last_token != now) {  // choices of one step count once
      const double seconds = std::chrono::duration<double>(now - record.last_token).count();
      record.has_token ? view_.note_gap(seconds) : view_.note_first_token(seconds);
      record.has_token = true;
      record.last_token = now;
    }
    if (event.finish) {
      switch (event.finish->reason) {
        case FinishReason::kStop:
          ++counters_.num_finished_stop;
          break;
        case FinishReason::kLength:
          ++counters_.num_finished_length;
          break;
        case FinishReason::kAbort:
          ++counters_.num_finished_abort;
          break;
        case FinishReason::kError:
          ++counters_.num_finished_error;
          break;
      }
    }
    record.sink->on_event(event);
    if (event.finish && --record.num_open == 0) {
      records_.erase(place);
    }
  }
}

void EngineImpl::update_stats() {
  const SchedulerStats scheduled = scheduler_.stats();
  EngineStats stats = counters_;
  stats.num_running = scheduled.num_running;
  stats.num_waiting = scheduled.num_waiting;
  stats.kv_cache_usage = kv_.usage();
  stats.num_blocks_used = kv_.num_blocks_used();
  stats.num_blocks_total = kv_.num_blocks_total();
  const std::lock_guard lock(mutex_);
  stats_ = stats;
  last_progress_ = Clock::now();
}

// The engine cannot go on (out of memory, most likely): everybody is told, nothing is retried.
void EngineImpl::fail_all(const std::string& why) {
  LOG_ERROR("engine failed", kv("why", why));
  const std::lock_guard lock(mutex_);
  stats_.healthy = false;
  stats_.num_running = 0;
  stats_.num_waiting = 0;
  num_submitted_ = 0;
  const auto tell = [&](const Record& record) {
    for (int choice = 0; choice < record.request.num_choices; ++choice) {
      TokenEvent event;
      event.request_id = record.request.id;
      event.choice = choice;
      event.finish = FinishInfo{.reason = FinishReason::kError, .error = "the engine failed"};
      record.sink->on_event(event);
    }
  };
  for (const auto& [id, record] : records_) {
    tell(*record);
  }
  for (const Record& record : arriving_) {
    tell(record);
  }
  for (const Record& record : submitted_) {
    tell(record);
  }
  submitted_.clear();
}

EngineFacts EngineImpl::facts() const {
  EngineFacts facts{
      .weight_bytes = plan_.weight_bytes,
      .kv_cache_bytes = plan_.kv_cache_bytes,
      .workspace_bytes = plan_.workspace_bytes,
      .memory_bytes = plan_.memory_bytes,
      .block_size = plan_.block_size,
      .kv_dtype = std::string(name_of(plan_.kv_dtype)),
      .kv_groups = {},
      .max_model_len = plan_.max_model_len,
      .max_num_seqs = config_.max_num_seqs,
      .max_num_batched_tokens = config_.max_num_batched_tokens,
      .inter_token_target_ms = config_.inter_token_target_ms,
      .num_threads = config_.num_threads,
      .kernels = std::string(name_of(find_cpu_level(config_).value())),
      .attention = config_.attention->numerics_class};
  for (std::size_t idx = 0; idx < plan_.kv_groups.size(); ++idx) {
    const KVGroupLayout& layout = plan_.kv_groups[idx];
    facts.kv_groups.push_back(
        {.window = model_->info().kv_groups[idx].window,
         .num_layers = layout.num_layers,
         .num_blocks = layout.num_blocks,
         .block_bytes = KVCache::block_bytes(layout, plan_.block_size)}
    );
  }
  return facts;
}

void log_plan(const EngineConfig& config, const MemoryPlan& plan, CpuLevel level) {
  if (plan.model_len_was_cut) {
    LOG_WARNING(
        "the KV cache holds less than the model's full context; --kv-cache-memory-bytes gives more",
        kv("max_model_len", plan.max_model_len)
    );
  }
  int num_blocks = 0;
  for (const KVGroupLayout& group : plan.kv_groups) {
    num_blocks += group.num_blocks;
    if (group.dtype != plan.kv_dtype) {
      LOG_INFO(
          "sliding layers keep a wider KV type: their window is short",
          kv("kv_cache_dtype", name_of(group.dtype)),
          kv("layers", group.num_layers)
      );
    }
  }
  LOG_INFO(
      "memory plan",
      kv("weight_bytes", plan.weight_bytes),
      kv("kv_cache_bytes", plan.kv_cache_bytes),
      kv("workspace_bytes", plan.workspace_bytes),
      kv("memory_bytes", plan.memory_bytes)
  );
  LOG_INFO(
      "engine ready",
      kv("max_model_len", plan.max_model_len),
      kv("max_num_seqs", config.max_num_seqs),
      kv("max_num_batched_tokens", config.max_num_batched_tokens),
      kv("kv_cache_dtype", name_of(plan.kv_dtype)),
      kv("kv_blocks", num_blocks),
      kv("threads", config.num_threads),
      kv("linear_mode", name_of(config.linear_mode)),
      kv("cpu_level", name_of(level)),
      kv("attention", config.attention->numerics_class)
  );
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(
    const EngineConfig& config, std::unique_ptr<Model> model
) {
  ASSIGN_OR_RETURN(const CpuLevel level, find_cpu_level(config));
  const CpuInfo cpu = detect_cpu();
  EngineConfig resolved = config;
  if (resolved.num_threads == 0) {
    resolved.num_threads = cpu.num_usable_cores;
  }
  if (!resolved.attention.has_value()) {
    ASSIGN_OR_RETURN(
        resolved.attention, choose_attention(resolved, {.model = model->info().attention})
    );
  }
  ASSIGN_OR_RETURN(const MemoryPlan plan, plan_memory(resolved, *model, cpu));
  std::unique_ptr<ThreadPool> pool;
  try {
    pool = std::make_unique<ThreadPool>(resolved.num_threads);
  } catch (const std::system_error& e) {
    return invalid_argument(
        "the system refuses " + std::to_string(resolved.num_threads) +
        " compute threads: " + e.what() + "; give fewer with --threads"
    );
  }
  ASSIGN_OR_RETURN(auto runner, ModelRunner::create(resolved, plan, *model, *pool));
  ASSIGN_OR_RETURN(auto weights, WeightKeeper::create(resolved, *model));
  log_plan(resolved, plan, level);
  return std::unique_ptr<Engine>(std::make_unique<EngineImpl>(
      resolved, plan, std::move(model), std::move(pool), std::move(runner), std::move(weights)
  ));
}

}  // namespace rapt
