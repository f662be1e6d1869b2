#include "engine/attention_choice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "attention/probe.h"
#include "attention/select/selector.h"
#include "base/thread_pool.h"

namespace rapt {

namespace {

KVType kv_type_of(DType dtype) {
  return dtype == DType::kF32      ? KVType::kF32
         : dtype == DType::kF8E4M3 ? KVType::kFp8
                                   : KVType::kBF16;
}

}  // namespace

Result<HostFacts> host_facts(const EngineConfig& config) {
  ASSIGN_OR_RETURN(const CpuLevel level, find_cpu_level(config));
  const CpuInfo cpu = detect_cpu();
  HostFacts facts;
  facts.cpu_name = cpu.model_name;
  facts.level = level;
  facts.num_threads = config.num_threads > 0 ? config.num_threads : cpu.num_usable_cores;
  facts.memory_gb = static_cast<double>(cpu.memory_bytes) / 1e9;
  facts.has_amx = cpu.has_amx;
  return facts;
}

AttentionRunOptions attention_run_options(const EngineConfig& config) {
  AttentionRunOptions run;
  run.kv_type = kv_type_of(config.kv_cache_dtype);
  run.block_size = config.kv_block_size;
  run.max_sequences = config.max_num_seqs;
  run.max_context = config.max_model_len;
  return run;
}

Result<AttentionPlan> choose_attention(
    const EngineConfig& config, const AttentionQuestion& question
) {
  ASSIGN_OR_RETURN(const HostFacts host, host_facts(config));
  ASSIGN_OR_RETURN(DeviceFacts device, find_attention_device("cpu", host));
  SelectRequest request;
  request.model = question.model;
  request.device = std::move(device);
  request.run = attention_run_options(config);
  request.settings = question.settings;
  request.calibration = question.calibration;
  request.backends = question.backends;
  const ProbeSetting probed{
      .model = question.model,
      .kv_type = request.run.kv_type,
      .block_size = request.run.block_size,
  };
  std::optional<ThreadPool> pool;  // made when the first kernel is checked: wrong names fail before
  request.probe = [&](const BackendInfo& backend, const KernelVariant& variant, AttentionSlot slot
                  ) {
    if (!pool.has_value()) {
      pool.emplace(host.num_threads);
    }
    return probe_attention(Stream{&*pool, host.level}, backend, variant, slot, probed);
  };
  return select_attention(request);
}

PlannedAttention make_planned_attention(
    const AttentionPlan& plan, const AttentionBackendOptions& options
) {
  std::vector<const BackendInfo*> infos;
  std::vector<std::unique_ptr<AttentionBackend>> backends;
  std::array<int, kNumAttentionSlots> backend_of_slot{};
  for (const SlotPlan& slot : plan.slots) {
    if (!slot.is_used) {
      continue;  // no layer of the model asks for it
    }
    CHECK(slot.backend != nullptr && slot.backend->make != nullptr, "a plan that cannot run");
    const auto found = std::find(infos.begin(), infos.end(), slot.backend);
    backend_of_slot[static_cast<std::size_t>(index_of(slot.slot))] =
        static_cast<int>(found - infos.begin());
    if (found == infos.end()) {
      infos.push_back(slot.backend);
      backends.push_back(slot.backend->make(options));
    }
  }
  return PlannedAttention(std::move(backends), backend_of_slot);
}

}  // namespace rapt
