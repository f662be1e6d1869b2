#include <cstdio>
#include <string>

#include "app/attention_setup.h"
#include "app/checkpoint_report.h"
#include "app/commands.h"
#include "app/loaded_model.h"
#include "base/cpu_info.h"
#include "base/json.h"
#include "engine/memory_plan.h"

namespace rapt {

namespace {

std::string with_gib(std::uint64_t bytes) {
  char text[64];
  std::snprintf(
      text,
      sizeof(text),
      "%llu (%.2f GiB)",
      static_cast<unsigned long long>(bytes),
      static_cast<double>(bytes) / 1073741824.0
  );
  return text;
}

void print_line(const std::string& name, const std::string& value) {
  std::printf("%-24s %s\n", name.c_str(), value.c_str());
}

// A line's worth of a value.
std::string shortened(const json::value& value) {
  constexpr std::size_t kMaxShown = 100;
  std::string text = to_json_text(value);
  if (text.size() <= kMaxShown) {
    return text;
  }
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end) + "...";
}

void print_text(
    const std::string& path,
    const CheckpointReport& files,
    const ModelInfo& info,
    const MemoryPlan& plan
) {
  print_line("model", path);
  print_line("architecture", info.architecture);
  for (const auto& [name, value] : info.details) {
    print_line(name, value);
  }
  print_line("parameters", std::to_string(info.num_parameters));
  print_line("active a token", std::to_string(info.num_active_parameters));
  print_line("weights", info.weight_format);
  print_line("files", std::to_string(files.num_files) + ", " + files.container);
  print_line("tensors", files.types_text());
  print_line("weight bytes", with_gib(plan.weight_bytes));
  print_line("KV cache bytes", with_gib(plan.kv_cache_bytes));
  for (std::size_t idx = 0; idx < plan.kv_groups.size(); ++idx) {
    const int window = info.kv_groups[idx].window;
    const KVGroupLayout& group = plan.kv_groups[idx];
    print_line(
        window > 0 ? "  sliding layers" : "  full layers",
        std::to_string(group.num_layers) + ", " + std::to_string(group.num_blocks) + " blocks of " +
            std::to_string(plan.block_size) + " positions, " +
            std::to_string(KVCache::block_bytes(group, plan.block_size)) + " bytes a block (" +
            std::string(name_of(group.dtype)) + ")"
    );
  }
  print_line("workspace bytes", with_gib(plan.workspace_bytes));
  print_line("memory of this process", with_gib(plan.memory_bytes));
  print_line("longest sequence", std::to_string(plan.max_model_len) + " tokens");
  if (!files.metadata.empty()) {
    std::printf("metadata\n");
  }
  for (const auto& [key, value] : files.metadata) {
    std::printf("  %s: %s\n", key.c_str(), shortened(value).c_str());
  }
}

void print_json(
    const std::string& path,
    const CheckpointReport& files,
    const ModelInfo& info,
    const MemoryPlan& plan,
    const AttentionPlan& attention
) {
  json::object tensors;
  for (const auto& [type, num_tensors] : files.type_counts) {
    tensors[type] = num_tensors;
  }
  json::object metadata;
  for (const auto& [key, value] : files.metadata) {
    metadata[key] = value;
  }
  json::object details;
  for (const auto& [name, value] : info.details) {
    details[name] = value;
  }
  json::array groups;
  for (std::size_t idx = 0; idx < plan.kv_groups.size(); ++idx) {
    groups.push_back(
        {{"window", info.kv_groups[idx].window},
         {"num_layers", plan.kv_groups[idx].num_layers},
         {"num_blocks", plan.kv_groups[idx].num_blocks},
         {"block_bytes", KVCache::block_bytes(plan.kv_groups[idx], plan.block_size)}}
    );
  }
  const json::value report = {
      {"model", path},
      {"architecture", info.architecture},
      {"details", details},
      {"num_parameters", info.num_parameters},
      {"num_active_parameters", info.num_active_parameters},
      {"expert_weights", info.weight_format},
      {"container", files.container},
      {"num_files", files.num_files},
      {"tensor_types", tensors},
      {"metadata", metadata},
      {"weight_bytes", plan.weight_bytes},
      {"kv_cache_bytes", plan.kv_cache_bytes},
      {"kv_cache_dtype", std::string(name_of(plan.kv_dtype))},
      {"kv_groups", groups},
      {"block_size", plan.block_size},
      {"workspace_bytes", plan.workspace_bytes},
      {"memory_bytes", plan.memory_bytes},
      {"max_model_len", plan.max_model_len},
      {"attention", plan_json(attention)},
  };
  std::printf("%s\n", to_json_text(report).c_str());
}

Result<void> inspect(const InspectOptions& options) {
  set_log_level(options.load.log_level);
  ASSIGN_OR_RETURN(std::string path, find_model_folder(options.load.model, false));
  EngineConfig config = options.load.engine;
  ASSIGN_OR_RETURN(config.attention, choose_for_command(options.load, path));
  ASSIGN_OR_RETURN(path, find_model_folder(options.load.model));
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, load_model(path));
  ASSIGN_OR_RETURN(const MemoryPlan plan, plan_memory(config, *model, detect_cpu()));
  ASSIGN_OR_RETURN(const CheckpointReport files, report_checkpoint(path));
  if (options.json) {
    print_json(path, files, model->info(), plan, *config.attention);
  } else {
    print_text(path, files, model->info(), plan);
    std::printf("%s\n", startup_line(*config.attention).c_str());
  }
  return {};
}

}  // namespace

int inspect_main(const InspectOptions& options) {
  const Result<void> result = inspect(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
