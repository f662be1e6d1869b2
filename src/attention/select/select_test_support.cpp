#include "attention/select/select_test_support.h"

#include <gtest/gtest.h>

#include "attention/backend.h"

namespace rapt {

HostFacts test_host() {
  return {
      .cpu_name = "AMD EPYC",
      .level = CpuLevel::kAvx512,
      .num_threads = 2,
      .memory_gb = 24,
  };
}

DeviceFacts test_device(std::string_view id) {
  Result<DeviceFacts> device = find_attention_device(id, test_host());
  EXPECT_TRUE(device) << (device ? "" : device.error().message);
  return device ? *device : DeviceFacts{};
}

namespace {

// The registry's data with the costs of CPU kernels held still: tuning them is no reason for
// another expectation.
struct StillBackends {
  std::vector<std::vector<KernelVariant>> variants;
  std::vector<BackendInfo> infos;
  std::vector<const BackendInfo*> pointers;
};

StillBackends make_still_backends() {
  StillBackends still;
  for (const BackendInfo* backend : attention_backends()) {
    still.variants.emplace_back(backend->variants.begin(), backend->variants.end());
    still.infos.push_back(*backend);
    still.infos.back().make = nullptr;
    if (backend->device == DeviceKind::kCpu) {
      const bool is_reference = backend->name == "cpu-ref";
      for (KernelVariant& variant : still.variants.back()) {
        variant.cost.fixed_us = 5.0;
        variant.cost.bandwidth_share = is_reference ? 0.4 : 0.8;
        variant.cost.compute_share = is_reference ? 0.8 : 0.5;
      }
      still.infos.back().make = [](const AttentionBackendOptions& options) {
        return make_cpu_ref_backend(options.num_threads, options.max_positions);
      };
    }
  }
  for (std::size_t idx = 0; idx < still.infos.size(); ++idx) {
    still.infos[idx].variants = still.variants[idx];
  }
  for (const BackendInfo& info : still.infos) {
    still.pointers.push_back(&info);
  }
  return still;
}

}  // namespace

std::span<const BackendInfo* const> test_backends() {
  static const StillBackends still = make_still_backends();
  return still.pointers;
}

AttentionSetting test_setting(std::string_view text) {
  AttentionSetting setting;
  std::size_t end = std::string_view::npos;
  std::size_t separator_size = 1;
  if (text.starts_with("-")) {
    setting.origin = SettingOrigin::kCommandLine;
    end = text.find(' ');
  } else if (text.find(": ") < text.find('=')) {
    setting.origin = SettingOrigin::kConfigFile;
    end = text.find(": ");
    separator_size = 2;
  } else {
    setting.origin =
        text.starts_with("RAPT_") ? SettingOrigin::kEnvironment : SettingOrigin::kVllmEnvironment;
    end = text.find('=');
  }
  EXPECT_NE(end, std::string_view::npos) << text;
  setting.option = text.substr(0, end);
  setting.value = text.substr(end + separator_size);
  return setting;
}

std::vector<AttentionSetting> test_settings(std::initializer_list<std::string_view> texts) {
  std::vector<AttentionSetting> settings;
  for (const std::string_view text : texts) {
    settings.push_back(test_setting(text));
  }
  return settings;
}

namespace {

Result<AttentionPlan> select(
    std::string_view preset, std::string_view device, std::initializer_list<std::string_view> texts
) {
  const std::vector<AttentionSetting> settings = test_settings(texts);
  return select_attention({
      .model = find_attention_preset(preset).value(),
      .device = test_device(device),
      .settings = settings,
      .backends = test_backends(),
  });
}

}  // namespace

AttentionPlan plan_for(
    std::string_view preset,
    std::string_view device,
    std::initializer_list<std::string_view> settings
) {
  Result<AttentionPlan> plan = select(preset, device, settings);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? std::move(*plan) : AttentionPlan{};
}

std::string error_for(
    std::string_view preset,
    std::string_view device,
    std::initializer_list<std::string_view> settings
) {
  Result<AttentionPlan> plan = select(preset, device, settings);
  EXPECT_FALSE(plan) << "a plan was made: " << (plan ? startup_line(*plan) : "");
  EXPECT_TRUE(plan || plan.error().code == ErrorCode::kInvalidArgument);
  return plan ? "" : plan.error().message;
}

std::string backend_of(const AttentionPlan& plan) {
  return plan.only_backend() != nullptr ? std::string(plan.only_backend()->name) : "mixed";
}

std::string messages_of(const AttentionPlan& plan) {
  std::string text;
  for (const AttentionMessage& message : plan.messages) {
    text += std::string(name_of(message.level)) + ": " + message.text + "\n";
  }
  return text;
}

}  // namespace rapt
