#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/template_internal.h"
#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

// What it costs to make something that lives as long as the rendering.
inline constexpr std::uint64_t kStepsAnObject = 20;

// What one rendering owns: its budget, the date that it is told, and the few values that can
// change. One thread.
class Runtime {
 public:
  explicit Runtime(const RenderOptions& options) : options_(options) {}

  // Every expression and statement costs a step; large results cost more, by their size. An error
  // when the budget is used up.
  Result<void> charge(std::uint64_t num_steps);
  // Charges what `value` took to make and holds it against the limits on sizes.
  Result<void> charge_for(const Value& value);

  const std::optional<std::string>& date() const { return options_.date; }

  int max_depth() const { return options_.limits.max_depth; }

  Namespace& make_namespace();
  LoopState& keep_loop(std::unique_ptr<LoopState> loop);

  void keep(std::unique_ptr<Object> object) { objects_.push_back(std::move(object)); }

 private:
  const RenderOptions& options_;
  std::uint64_t num_steps_ = 0;
  // None of these owns another, so that however they refer to each other they can go one by one.
  std::vector<std::unique_ptr<Namespace>> namespaces_;
  std::vector<std::unique_ptr<LoopState>> loops_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace rapt::jinja
