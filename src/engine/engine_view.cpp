#include <algorithm>
#include <utility>

#include "engine/engine_view_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kHistorySeconds = 600;

int num_blocks_held(const BlockTables& blocks) {
  int num_held = 0;
  for (const BlockTables::Table& table : blocks.tables) {
    num_held += table.num_held();
  }
  return num_held;
}

// Adds `more` to what is known of its second.
void add_to(EngineSecond& second, const EngineSecond& more) {
  second.num_steps += more.num_steps;
  second.num_prompt_tokens += more.num_prompt_tokens;
  second.num_generated_tokens += more.num_generated_tokens;
  second.num_first_tokens += more.num_first_tokens;
  second.num_gaps += more.num_gaps;
  second.first_token_seconds += more.first_token_seconds;
  second.gap_seconds += more.gap_seconds;
  second.max_gap_seconds = std::max(second.max_gap_seconds, more.max_gap_seconds);
  second.num_running = more.num_running;
  second.num_waiting = more.num_waiting;
}

}  // namespace

EngineView::EngineView(const Scheduler& scheduler, const KVCacheManager& kv)
    : scheduler_(scheduler),
      kv_(kv),
      start_(Clock::now()),
      ring_(kHistorySeconds, EngineSecond{.second = -1}) {
  snapshot_.kv_groups.resize(static_cast<std::size_t>(kv.num_groups()));
  write_groups();
}

std::int64_t EngineView::second_of(Clock::time_point time) const {
  return std::chrono::duration_cast<std::chrono::seconds>(time - start_).count();
}

void EngineView::begin_step(const StepPlan& plan) {
  step_ = {
      .number = step_.number + 1,
      .is_running = true,
      .num_sequences = static_cast<int>(plan.slices.size()),
      .num_tokens = plan.num_tokens,
      .num_prompt_tokens = plan.num_prompt_tokens,
      .num_sampled = plan.num_sampled,
      .max_tokens = plan.max_tokens};
  if (is_wanted_.exchange(false)) {
    const std::lock_guard lock(mutex_);
    write();
  }
}

void EngineView::note_first_token(double seconds_since_arrival) {
  ++pending_.num_first_tokens;
  pending_.first_token_seconds += seconds_since_arrival;
}

void EngineView::note_gap(double seconds) {
  ++pending_.num_gaps;
  pending_.gap_seconds += seconds;
  pending_.max_gap_seconds = std::max(pending_.max_gap_seconds, seconds);
}

void EngineView::end_step(int num_prompt_tokens, int num_generated_tokens) {
  const SchedulerStats scheduled = scheduler_.stats();
  pending_.second = second_of(Clock::now());
  pending_.num_steps = 1;
  pending_.num_prompt_tokens = num_prompt_tokens;
  pending_.num_generated_tokens = num_generated_tokens;
  pending_.num_running = scheduled.num_running;
  pending_.num_waiting = scheduled.num_waiting;
  const std::lock_guard lock(mutex_);
  EngineSecond& second = ring_[static_cast<std::size_t>(pending_.second) % kHistorySeconds];
  if (second.second != pending_.second) {
    second = EngineSecond{.second = pending_.second};
  }
  add_to(second, std::exchange(pending_, EngineSecond()));
  step_.is_running = false;
  write_if_idle();
}

void EngineView::note_idle() {
  if (scheduler_.is_idle()) {
    const std::lock_guard lock(mutex_);
    write_if_idle();
  }
}

// Needs mutex_. The engine is about to sleep, and nobody must go on seeing what has ended.
void EngineView::write_if_idle() {
  if (scheduler_.is_idle() && (!snapshot_.running.empty() || !snapshot_.waiting.empty())) {
    write();
  }
}

void EngineView::fill(SequenceSnapshot& out, const Sequence& sequence) {
  const Request& request = *sequence.request;
  const bool is_running = sequence.status == SequenceStatus::kRunning;
  out.request_id = request.id;
  out.client_id = request.client_id;
  out.choice = sequence.choice;
  out.wait = WaitReason::kNone;
  out.num_prompt = sequence.num_prompt();
  // A waiting sequence has no tokens of its own yet.
  out.num_output = is_running ? sequence.num_output() : 0;
  out.max_output = request.stop.max_tokens;
  out.num_computed = sequence.num_computed;
  out.num_scheduled = sequence.num_scheduled;
  out.num_blocks = num_blocks_held(sequence.blocks);
  out.phase = SequencePhase::kWaiting;
  if (is_running) {
    out.phase =
        sequence.num_computed < out.num_prompt ? SequencePhase::kPrefill : SequencePhase::kDecode;
  }
}

// Needs mutex_.
void EngineView::write() {
  snapshot_.step = step_;
  const auto running = scheduler_.running();
  snapshot_.running.resize(running.size());
  for (std::size_t idx = 0; idx < running.size(); ++idx) {
    SequenceSnapshot& out = snapshot_.running[idx];
    fill(out, *running[idx]);
    if (running[idx]->is_paused) {
      out.wait = WaitReason::kBlocks;
    } else if (snapshot_.step.is_running && out.num_scheduled == 0) {
      out.wait = WaitReason::kTokens;
    }
  }
  const auto& waiting = scheduler_.waiting();
  snapshot_.waiting.resize(std::min(waiting.size(), EngineSnapshot::kMaxWaitingShown));
  for (std::size_t idx = 0; idx < snapshot_.waiting.size(); ++idx) {
    SequenceSnapshot& out = snapshot_.waiting[idx];
    fill(out, *waiting[idx]);
    out.wait = idx == 0 ? scheduler_.wait_reason() : WaitReason::kOthers;
  }
  write_groups();
}

// Needs mutex_.
void EngineView::write_groups() {
  const auto running = scheduler_.running();
  for (int group_idx = 0; group_idx < kv_.num_groups(); ++group_idx) {
    KVGroupSnapshot& group = snapshot_.kv_groups[static_cast<std::size_t>(group_idx)];
    const BlockPool& pool = kv_.pool(group_idx);
    group.num_used = pool.num_used();
    group.blocks_per_cell = std::max(
        1, (pool.num_blocks() + EngineSnapshot::kMaxCells - 1) / EngineSnapshot::kMaxCells
    );
    const int num_cells = (pool.num_blocks() + group.blocks_per_cell - 1) / group.blocks_per_cell;
    group.cells.assign(static_cast<std::size_t>(num_cells), KVCell());
    for (std::size_t idx = 0; idx < running.size(); ++idx) {
      const BlockTables& blocks = running[idx]->blocks;
      for (const BlockId block :
           blocks.tables.empty() ? std::span<const BlockId>() : blocks.table(group_idx)) {
        if (block == BlockTables::kNoBlock) {
          continue;
        }
        KVCell& cell = group.cells[static_cast<std::size_t>(block / group.blocks_per_cell)];
        ++cell.num_used;
        if (cell.owner == 0) {
          cell.owner = static_cast<std::int32_t>(idx) + 1;
        }
      }
    }
  }
}

EngineSnapshot EngineView::read(std::int64_t since) const {
  EngineSnapshot out;
  const std::int64_t now = second_of(Clock::now());
  {
    const std::lock_guard lock(mutex_);
    out = snapshot_;
    const std::int64_t oldest = now - static_cast<std::int64_t>(kHistorySeconds) + 1;
    for (std::int64_t second = std::max({since, oldest, std::int64_t{0}}); second <= now;
         ++second) {
      const EngineSecond& entry = ring_[static_cast<std::size_t>(second) % kHistorySeconds];
      if (entry.second == second) {
        out.seconds.push_back(entry);
      }
    }
    is_wanted_.store(true);
  }
  out.now = now;
  return out;
}

}  // namespace rapt
