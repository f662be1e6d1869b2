#include <algorithm>

#include "attention/select/check_internal.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

std::string join_or(const std::vector<std::string>& parts) {
  if (parts.size() < 2) {
    return join(parts, "");
  }
  return join(std::span(parts).first(parts.size() - 1), ", ") + " or " + parts.back();
}

class Checker {
 public:
  Checker(
      const BackendInfo& backend,
      const KernelVariant& variant,
      AttentionSlot slot,
      const SelectRequest& request
  )
      : backend_(backend), variant_(variant), slot_(slot), request_(request) {}

  std::vector<Reason> run() {
    if (backend_.device != request_.device.kind) {
      const bool is_cpu = backend_.device == DeviceKind::kCpu;
      add(ReasonCode::kDeviceKind,
          "device",
          is_cpu ? "a CPU" : "a CUDA GPU",
          is_cpu ? "a GPU" : "a CPU",
          is_cpu ? "--device cpu" : "");
      return std::move(reasons_);
    }
    check_device();
    check_build();
    check_model();
    check_cache();
    check_run();
    return std::move(reasons_);
  }

 private:
  void add(
      ReasonCode code, std::string field, std::string need, std::string have, std::string hint = {}
  ) {
    reasons_.push_back({code, std::move(field), std::move(need), std::move(have), std::move(hint)});
  }

  void check_device() {
    const DeviceFacts& device = request_.device;
    if (device.kind == DeviceKind::kCpu) {
      if (device.cpu_level < variant_.min_cpu_level) {
        add(ReasonCode::kIsa,
            "cpu_level",
            "the CPU level " + std::string(name_of(variant_.min_cpu_level)),
            std::string(name_of(device.cpu_level)));
      }
      return;
    }
    const int have = device.compute_capability;
    const bool is_in = std::any_of(
        variant_.compute_capabilities.begin(),
        variant_.compute_capabilities.end(),
        [have](const CapabilityRange& range) { return have >= range.first && have <= range.last; }
    );
    if (!is_in) {
      add(ReasonCode::kDeviceCc,
          "compute_capability",
          capabilities_text(variant_.compute_capabilities),
          sm_name(have));
    }
  }

  void check_build() {
    const DeviceFacts& device = request_.device;
    const bool as_if_built = request_.ranks_unbuilt || device.is_simulated;
    if (backend_.make == nullptr && !as_if_built) {
      add(ReasonCode::kNotBuilt, "backend", "a binary with it", "one without it");
    }
    const LibraryNeed& library = backend_.library;
    if (!library.name.empty()) {
      const std::string need =
          std::string(library.name) + " >= " + std::string(library.min_version);
      if (device.cudnn.empty()) {
        add(ReasonCode::kLibMissing,
            "library",
            need,
            device.is_simulated ? "a simulated device has none" : "none was found",
            "installing it");
      } else if (is_older_version(device.cudnn, library.min_version)) {
        add(ReasonCode::kLibTooOld,
            "library",
            need,
            std::string(library.name) + " " + device.cudnn,
            "a later one");
      }
    }
    const auto& disabled = request_.run.disabled_backends;
    if (std::find(disabled.begin(), disabled.end(), backend_.name) != disabled.end()) {
      add(ReasonCode::kDisabledByUser, "backend", "", "by the user");
    }
  }

  void check_model() {
    const AttentionModel& model = request_.model;
    if (model.is_mla) {
      add(ReasonCode::kModelKind,
          "model",
          "grouped-query attention",
          "has no kernel for multi-head latent attention");
      return;
    }
    if (!variant_.head_dims.allows(model.head_dim)) {
      add(ReasonCode::kHeadDim,
          "head_dim",
          "a head dimension of " + size_rule_text(variant_.head_dims),
          std::to_string(model.head_dim));
    }
    if (!variant_.gqa_ratios.allows(model.gqa_ratio())) {
      add(ReasonCode::kGqaRatio,
          "gqa_ratio",
          "query heads per KV head: " + size_rule_text(variant_.gqa_ratios),
          std::to_string(model.gqa_ratio()));
    }
    if (model.has_sinks && !variant_.has_sinks) {
      add(ReasonCode::kSinks, "sinks", "a model without sinks", "has no attention sinks");
    }
    const bool slides = layer_kind_of(slot_) == AttentionLayerKind::kSliding && model.window > 0;
    if (slides && !variant_.has_window) {
      add(ReasonCode::kWindow, "window", "a model without windows", "has no sliding window");
    }
    if (model.has_soft_cap && !variant_.has_soft_cap) {
      add(ReasonCode::kSoftCap, "soft_cap", "a model without soft cap", "has no soft cap");
    }
  }

  void check_cache() {
    const KVType kv_type = kv_type_of(request_.run, slot_);
    const auto& types = variant_.kv_types;
    if (std::find(types.begin(), types.end(), kv_type) == types.end()) {
      std::vector<std::string> names;
      for (const KVType type : types) {
        names.emplace_back(name_of(type));
      }
      add(ReasonCode::kKVDType,
          "kv_dtype",
          "a KV cache of " + join_or(names),
          std::string(name_of(kv_type)),
          names.empty() ? "" : "--kv-cache-dtype " + names.front());
    }
    const int block_size = request_.run.block_size;
    if (block_size > 0 && !variant_.block_sizes.allows(block_size)) {
      add(ReasonCode::kBlockSize,
          "block_size",
          "a block size of " + size_rule_text(variant_.block_sizes),
          std::to_string(block_size),
          "--block-size " +
              std::to_string(variant_.best_block_size > 0 ? variant_.best_block_size : 16));
    }
  }

  void check_run() {
    const AttentionRunOptions& run = request_.run;
    if (run.needs_mixed_batches && !variant_.takes_mixed_batches) {
      add(ReasonCode::kMixedBatch,
          "mixed_batch",
          "prompts apart from single tokens",
          "a mixed batch");
    }
    if (variant_.graph_level < run.graph_level) {
      add(ReasonCode::kGraphLevel,
          "graph_level",
          "graphs: " + std::string(name_of(variant_.graph_level)),
          std::string(name_of(run.graph_level)));
    }
    if (run.is_deterministic && variant_.batch_invariance == BatchInvariance::kNever) {
      add(ReasonCode::kDeterminism,
          "deterministic",
          "a run that is not deterministic",
          "gives bits that depend on the batch");
    }
    if (variant_.max_sequences > 0 && run.max_sequences > variant_.max_sequences) {
      add(ReasonCode::kMaxSequences,
          "max_sequences",
          "at most " + std::to_string(variant_.max_sequences) + " sequences in a step",
          std::to_string(run.max_sequences),
          "--max-num-seqs " + std::to_string(variant_.max_sequences));
    }
    const std::int64_t context = run.max_context > 0 ? run.max_context : request_.model.max_context;
    if (variant_.max_context > 0 && context > variant_.max_context) {
      add(ReasonCode::kContextLen,
          "max_context",
          "a context of at most " + std::to_string(variant_.max_context) + " tokens",
          std::to_string(context),
          "--max-model-len " + std::to_string(variant_.max_context));
    }
    const std::uint64_t workspace =
        variant_.workspace_bytes_per_row * static_cast<std::uint64_t>(request_.model.num_heads);
    if (run.max_workspace_bytes > 0 && workspace > run.max_workspace_bytes) {
      add(ReasonCode::kWorkspace,
          "workspace",
          std::to_string(workspace) + " bytes of workspace a row",
          "a limit of " + std::to_string(run.max_workspace_bytes));
    }
  }

  const BackendInfo& backend_;
  const KernelVariant& variant_;
  AttentionSlot slot_;
  const SelectRequest& request_;
  std::vector<Reason> reasons_;
};

std::string range_text(const CapabilityRange& range) {
  const auto number = [](int value) {
    return std::to_string(value / 10) + "." + std::to_string(value % 10);
  };
  if (range.last >= 129) {
    return number(range.first) + " or later";
  }
  return range.first == range.last ? number(range.first)
                                   : number(range.first) + " to " + number(range.last);
}

}  // namespace

std::vector<Reason> check_variant(
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    const SelectRequest& request
) {
  return Checker(backend, variant, slot, request).run();
}

KVType kv_type_of(const AttentionRunOptions& run, AttentionSlot slot) {
  const bool is_sliding = layer_kind_of(slot) == AttentionLayerKind::kSliding;
  const bool is_spared = run.kv_type == KVType::kFp8 && run.fp8_full_layers_only && is_sliding;
  return is_spared ? KVType::kBF16 : run.kv_type;
}

std::string size_rule_text(const SizeRule& rule) {
  if (!rule.only.empty()) {
    std::vector<std::string> sizes;
    for (const int size : rule.only) {
      sizes.push_back(std::to_string(size));
    }
    return join_or(sizes);
  }
  const std::string range = rule.max > 0
                                ? std::to_string(rule.min) + " to " + std::to_string(rule.max)
                            : rule.min > 1 ? std::to_string(rule.min) + " or more"
                                           : "";
  if (rule.multiple_of == 1) {
    return range.empty() ? "any" : range;
  }
  const std::string multiple = "a multiple of " + std::to_string(rule.multiple_of);
  return rule.max > 0 ? multiple + " from " + range : multiple;
}

std::string capabilities_text(std::span<const CapabilityRange> ranges) {
  std::vector<std::string> texts;
  for (const CapabilityRange& range : ranges) {
    texts.push_back(range_text(range));
  }
  return "SM " + join_or(texts);
}

bool is_older_version(std::string_view a, std::string_view b) {
  const std::vector<std::string> a_parts = split(a, '.');
  const std::vector<std::string> b_parts = split(b, '.');
  for (std::size_t idx = 0; idx < std::max(a_parts.size(), b_parts.size()); ++idx) {
    // Numbers without leading zeros: the longer is the greater.
    const std::string a_part = idx < a_parts.size() ? a_parts[idx] : "0";
    const std::string b_part = idx < b_parts.size() ? b_parts[idx] : "0";
    if (a_part != b_part) {
      return a_part.size() != b_part.size() ? a_part.size() < b_part.size() : a_part < b_part;
    }
  }
  return false;
}

}  // namespace rapt
