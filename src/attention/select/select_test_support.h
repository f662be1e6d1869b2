#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/select/selector.h"

// What the tests of this folder share.

namespace rapt {

// A machine like those that Rapt is tested on, the same wherever the tests run.
HostFacts test_host();

DeviceFacts test_device(std::string_view id);

// The registry as if the CPU backends were built and the CUDA ones were not, and with costs of CPU
// kernels that stay, so that expectations depend neither on this binary nor on tuning.
std::span<const BackendInfo* const> test_backends();

// A setting from its text: "--flag value", "key: value", "VLLM_X=value", "RAPT_X=value".
AttentionSetting test_setting(std::string_view text);
std::vector<AttentionSetting> test_settings(std::initializer_list<std::string_view> texts);

// Plans for a preset and a device. An error fails the test and gives an empty plan.
AttentionPlan plan_for(
    std::string_view preset,
    std::string_view device,
    std::initializer_list<std::string_view> settings = {}
);

// The error's message; fails the test when there is a plan.
std::string error_for(
    std::string_view preset,
    std::string_view device,
    std::initializer_list<std::string_view> settings
);

// One name that fills every used slot; "mixed" else.
std::string backend_of(const AttentionPlan& plan);

// All messages, one a line.
std::string messages_of(const AttentionPlan& plan);

}  // namespace rapt
