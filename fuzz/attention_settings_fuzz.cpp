// Any bytes as settings of attention: the first is the device, each line after it a setting in the
// form in which it is given, "--flag value", "key: value" or "VARIABLE=value". And the whole as a
// config.json, a calibration file and a name to explain. What is chosen must be able to run, and
// variables alone must never be the reason of an error.

#include <string_view>
#include <vector>

#include "attention/select/explain.h"
#include "attention/select/selector.h"
#include "base/check.h"
#include "fuzz_target.h"

namespace {

using namespace rapt;

AttentionSetting read_line(std::string_view line) {
  const bool is_flag = line.starts_with("-");
  const std::size_t colon = line.find(": ");
  const std::size_t equals = line.find('=');
  const bool is_key = !is_flag && colon < equals;
  const std::size_t end = is_flag ? line.find(' ') : is_key ? colon : equals;
  const SettingOrigin origin = is_flag                     ? SettingOrigin::kCommandLine
                               : is_key                    ? SettingOrigin::kConfigFile
                               : line.starts_with("RAPT_") ? SettingOrigin::kEnvironment
                                                           : SettingOrigin::kVllmEnvironment;
  const std::string_view rest = end == line.npos ? "" : line.substr(end + 1);
  return {origin, std::string(line.substr(0, end)), std::string(rest)};
}

void check_plan(const AttentionPlan& plan) {
  for (const SlotPlan& here : plan.slots) {
    CHECK(here.is_used == (here.backend != nullptr), "a used slot without a backend");
    CHECK(!here.is_used || here.variant->slots.contains(here.slot), "a kernel in a wrong slot");
    CHECK(!here.is_used || here.backend->device == plan.device.kind, "another device's backend");
  }
  CHECK(!plan_text(plan).empty() && !plan_json(plan).empty());
}

void select_on(const DeviceFacts& device, const std::vector<AttentionSetting>& settings) {
  const Result<AttentionPlan> plan = select_attention({
      .model = *find_attention_preset("gpt-oss-20b"),
      .device = device,
      .settings = settings,
      .ranks_unbuilt = true,
  });
  if (plan) {
    check_plan(*plan);
    return;
  }
  CHECK(!plan.error().message.empty(), "an error without a message");
  bool is_typed = false;
  for (const AttentionSetting& setting : settings) {
    is_typed = is_typed || setting.origin > SettingOrigin::kEnvironment;
  }
  CHECK(is_typed, "a variable stopped the start: ", plan.error().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const HostFacts host = {.level = CpuLevel::kAvx2, .num_threads = 2};
  const std::vector<std::string_view> devices = attention_device_names();
  if (!text.empty()) {
    const std::size_t device_idx = static_cast<std::uint8_t>(text.front()) % devices.size();
    std::vector<AttentionSetting> settings;
    std::string_view rest = text.substr(1);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      settings.push_back(read_line(rest.substr(0, end)));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    select_on(*find_attention_device(devices[device_idx], host), settings);
  }
  static_cast<void>(find_attention_device(text, host));
  if (const Result<Calibration> calibration = parse_calibration(text, "the file")) {
    CHECK(parse_calibration(calibration_text(*calibration), "its copy"), "does not read back");
  }
  if (const Result<json::value> config = parse_json(text, "config.json")) {
    static_cast<void>(read_attention_model(*config, "model"));
  }
  const std::size_t at = text.find('\n');
  static_cast<void>(explain_attention_name({
      .name = std::string(text.substr(0, at)),
      .target = at == text.npos ? "" : std::string(text.substr(at + 1)),
      .model = *find_attention_preset("gpt-oss-20b"),
      .host = host,
  }));
  return 0;
}
