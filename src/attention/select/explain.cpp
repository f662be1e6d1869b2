#include "attention/select/explain.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "attention/select/alias_internal.h"
#include "attention/select/history_internal.h"
#include "attention/select/resolve_internal.h"
#include "attention/select/selector.h"
#include "attention/select/text_internal.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

constexpr std::array<std::string_view, 4> kEngines = {
    "vllm", "sglang", "tensorrt-llm", "llama.cpp"};

// Devices whose outcomes are shown when none was asked for: one of each generation.
constexpr std::array<std::string_view, 10> kShownDevices = {
    "cpu", "sm75", "sm80", "sm86", "sm89", "sm90", "sm100", "sm103", "sm120", "sm121"};

// The release and how it was called.
struct Target {
  const ForeignRelease* release = nullptr;
  std::string label;
};

std::string known_targets() {
  return "vllm@0.10.0 to vllm@0.33, vllm (the newest known), sglang, tensorrt-llm, llama.cpp";
}

Result<Target> find_target(std::string_view text) {
  const std::string lower = lower_case(trim_blanks(text));
  const std::size_t end = lower.find_first_of("@ =");
  const std::string engine = lower.substr(0, end);
  std::string version_name = end == lower.npos ? "" : lower.substr(lower.find_last_of("@ =") + 1);
  if (engine == "vllm") {
    if (version_name.empty() || contains_word("newest latest main", version_name)) {
      for (const ForeignRelease& release : vllm_releases()) {
        if (release.first == Version{0, 25, 0}) {
          return Target{&release, "vLLM, newest known (mid-2026)"};
        }
      }
    }
    const std::optional<Version> version = parse_version(version_name);
    if (!version.has_value()) {
      return invalid_argument(
          "--for " + std::string(text) + ": '" + version_name +
          "' is not a version; known: " + known_targets()
      );
    }
    for (const ForeignRelease& release : vllm_releases()) {
      if (*version >= release.first && *version <= release.last) {
        return Target{&release, "vLLM " + version_text(*version)};
      }
    }
    return invalid_argument(
        "--for " + std::string(text) + ": nothing is recorded of vLLM " + version_text(*version) +
        ", which is later than what is known here; known: " + known_targets()
    );
  }
  for (const ForeignRelease& release : other_releases()) {
    if (lower_case(release.engine) == engine) {
      return Target{&release, std::string(release.engine)};
    }
  }
  return invalid_argument(
      "--for " + std::string(text) + ": unknown engine '" + engine + "'" +
      did_you_mean(engine, kEngines) + "; known: " + known_targets()
  );
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return upper;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// "#123" is a pull request or thread of the engine; "sglang:123" one of another project.
std::string source_text(std::string_view source, std::string_view engine) {
  const std::size_t colon = source.find(':');
  if (colon != source.npos) {
    return std::string(source.substr(0, colon)) + " #" + std::string(source.substr(colon + 1));
  }
  return std::string(engine) + " " + std::string(source);
}

class Explainer {
 public:
  explicit Explainer(const ExplainRequest& request) : request_(request) {}

  Result<Explanation> run() {
    const std::string name(trim_blanks(request_.name));
    is_unset_ =
        name.empty() || lower_case(name) == "unset" || normalized_backend_name(name) == "auto";
    out_.name = is_unset_ ? "unset" : name;
    RETURN_IF_ERROR(identify(name));
    const std::string target = request_.target.empty() ? own_target() : request_.target;
    if (!target.empty()) {
      ASSIGN_OR_RETURN(target_, find_target(target));
      tell_there(name);
    }
    tell_here(name);
    tell_history();
    return std::move(out_);
  }

 private:
  Result<void> identify(const std::string& name) {
    if (is_unset_) {
      out_.canonical = "auto";
      out_.engine = "all";
      out_.what = "no name: the engine chooses";
      return {};
    }
    const std::string normalized = normalized_backend_name(name);
    std::string own_name = normalized;
    std::replace(own_name.begin(), own_name.end(), '_', '-');
    if (const BackendInfo* own = find_attention_backend(own_name, request_.backends)) {
      out_.canonical = own->name;
      out_.engine = "Rapt";
      out_.what = own->description;
    }
    if (const AliasInfo* alias = find_alias(normalized)) {
      alias_ = alias;
      out_.canonical = alias->name;
      out_.engine = out_.engine.empty() ? std::string(alias->engines)
                                        : out_.engine + ", " + std::string(alias->engines);
      out_.what = out_.what.empty() ? std::string(alias->what) : out_.what;
    }
    if (out_.canonical.empty()) {
      return invalid_argument(unknown_name_text(name, request_.backends) + ".");
    }
    return {};
  }

  // The engine that a name comes from; "" for Rapt's own and for those of which nothing is
  // recorded.
  std::string own_target() const {
    for (const std::string_view engine : kEngines) {
      const std::string engines = lower_case(
          is_unset_           ? "vLLM"
          : alias_ != nullptr ? alias_->engines
                              : ""
      );
      if (engines.find(engine) != std::string::npos) {
        return std::string(engine);
      }
    }
    return {};
  }

  void add_sources(std::string_view sources, std::string_view engine) {
    for (const std::string_view source : words_of(sources)) {
      std::string text = source_text(source, engine);
      if (std::find(out_.sources.begin(), out_.sources.end(), text) == out_.sources.end()) {
        out_.sources.push_back(std::move(text));
      }
    }
  }

  // The name under which the release's rules know what was asked.
  std::string rule_name(const std::string& name) const {
    const ForeignRelease& release = *target_.release;
    if (is_unset_) {
      return "unset";
    }
    if (release.engine != "vLLM") {
      return alias_ != nullptr ? std::string(alias_->name) : "invalid";
    }
    if (upper_case(name).ends_with("_VLLM_V1")) {
      return "*_VLLM_V1";
    }
    // 0.11.0 compares as it is written; later releases make it upper case.
    const bool is_exact = release.first == Version{0, 11, 0};
    const std::string written = is_exact ? name : upper_case(name);
    const bool is_known =
        alias_ != nullptr && alias_->name == written && contains_word(release.names, written);
    const bool was_known = alias_ != nullptr && alias_->name == written;
    return is_known || (was_known && !is_exact) ? written : "invalid";
  }

  bool shows(const ForeignGroup& group) const {
    if (!request_.device.has_value()) {
      return true;
    }
    const DeviceFacts& device = *request_.device;
    return contains_word(
        group.devices,
        device.kind == DeviceKind::kCpu ? "cpu" : std::to_string(device.compute_capability)
    );
  }

  void tell_there(const std::string& name) {
    const ForeignRelease& release = *target_.release;
    out_.release = target_.label;
    out_.right_answer = release.right_answer;
    out_.there = "Given with " + std::string(release.given);
    const std::string known_as = rule_name(name);
    if (release.engine == "vLLM" && known_as == "invalid" && !release.names.empty()) {
      out_.there += " " + name + " is not a name of this release.";
    }
    add_sources(release.sources, release.engine);
    for (const ForeignGroup& group : release.groups) {
      if (shows(group)) {
        add_row(group, known_as, name);
      }
    }
    if (release.groups.empty()) {
      out_.there += " What ran where is recorded for 0.11.0 and for the newest known release.";
    } else if (out_.rows.empty()) {
      out_.there += request_.device.has_value() && !is_any_shown(release)
                        ? " Nothing is recorded for this device."
                        : " Nothing is recorded of this name with gpt-oss.";
    }
  }

  bool is_any_shown(const ForeignRelease& release) const {
    return std::any_of(
        release.groups.begin(),
        release.groups.end(),
        [this](const ForeignGroup& group) { return shows(group); }
    );
  }

  void add_row(const ForeignGroup& group, const std::string& known_as, const std::string& name) {
    for (const ForeignRule& rule : target_.release->rules) {
      const bool is_of_name =
          contains_word(rule.names, known_as) || (rule.names == "*" && known_as != "unset");
      const bool is_of_group = rule.groups == "*" || contains_word(rule.groups, group.id);
      if (is_of_name && is_of_group) {
        out_.rows.push_back(
            {std::string(group.label),
             rule.outcome,
             replace_all(std::string(rule.text), "{name}", name)}
        );
        add_sources(rule.sources, target_.release->engine);
        return;
      }
    }
  }

  // What a device makes of the name; `full` gives the whole message where it cannot run.
  std::string here_on(const DeviceFacts& device, const std::string& name, bool full) const {
    const std::vector<AttentionSetting> settings = {
        {SettingOrigin::kCommandLine, "--attention-backend", is_unset_ ? "auto" : name}};
    SelectRequest select = {
        .model = request_.model,
        .device = device,
        .settings = settings,
        .ranks_unbuilt = false,
        .backends = request_.backends,
    };
    const Result<AttentionPlan> plan = select_attention(select);
    select.settings = {};
    const Result<AttentionPlan> automatic = select_attention(select);
    if (!plan) {
      const std::string works = automatic ? "auto runs " + names_of(*automatic) : "nothing runs";
      return full ? plan.error().message : "cannot run; " + works;
    }
    std::string text = names_of(*plan);
    if (!is_unset_ && automatic && names_of(*automatic) != text) {
      text += " (auto would choose " + names_of(*automatic) + ")";
    }
    return text;
  }

  static std::string names_of(const AttentionPlan& plan) {
    SlotBackends backends = {};
    for (const SlotPlan& here : plan.slots) {
      backends[static_cast<std::size_t>(index_of(here.slot))] = here.backend;
    }
    return backend_names(backends, SlotSet::all());
  }

  void tell_here(const std::string& name) {
    if (request_.device.has_value()) {
      const DeviceFacts& device = *request_.device;
      out_.here.push_back({full_name_of(device), here_on(device, name, true)});
      return;
    }
    for (const std::string_view id : kShownDevices) {
      const Result<DeviceFacts> device = find_attention_device(id, request_.host);
      const std::string text = here_on(*device, name, false);
      // Neighbours with one answer share a row.
      if (!out_.here.empty() && out_.here.back().text == text &&
          device->kind == DeviceKind::kCuda && out_.here.back().device != "CPU") {
        out_.here.back().device +=
            ", " + short_name_of(*device).substr(std::string_view("SM ").size());
      } else {
        out_.here.push_back({short_name_of(*device), text});
      }
    }
  }

  void tell_history() {
    for (const HistoryEvent& event : history_events()) {
      const bool is_of_vllm = out_.engine.find("vLLM") != std::string::npos || is_unset_;
      const bool is_of_name = contains_word(event.names, out_.canonical);
      const bool is_general = event.names == "*" && is_of_vllm;
      if (is_of_name || is_general) {
        const std::string release =
            event.release.empty() ? "" : " (" + std::string(event.release) + ")";
        std::vector<std::string> sources;
        for (const std::string_view source : words_of(event.source)) {
          sources.push_back(source_text(source, "vLLM"));
        }
        out_.history.push_back(
            std::string(event.date) + release + ": " + std::string(event.text) +
            (sources.empty() ? "" : " [" + join(sources, ", ") + "]")
        );
        add_sources(event.source, "vLLM");
      }
    }
  }

  const ExplainRequest& request_;
  const AliasInfo* alias_ = nullptr;
  Target target_;
  bool is_unset_ = false;
  Explanation out_;
};

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  if (text.starts_with("v")) {
    text.remove_prefix(1);
  }
  const std::vector<std::string> parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 3) {
    return std::nullopt;
  }
  std::array<int, 3> numbers = {};
  for (std::size_t idx = 0; idx < parts.size(); ++idx) {
    const std::string& part = parts[idx];
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), numbers[idx]);
    if (error != std::errc() || end != part.data() + part.size() || numbers[idx] < 0) {
      return std::nullopt;
    }
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string version_text(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::string_view name_of(ForeignOutcome outcome) {
  switch (outcome) {
    case ForeignOutcome::kRight:
      return "right";
    case ForeignOutcome::kWorks:
      return "works";
    case ForeignOutcome::kFails:
      return "fails";
    case ForeignOutcome::kWrongOutput:
      return "wrong output";
    case ForeignOutcome::kIgnored:
      return "ignored";
  }
  return "?";
}

Result<Explanation> explain_attention_name(const ExplainRequest& request) {
  return Explainer(request).run();
}

}  // namespace rapt
