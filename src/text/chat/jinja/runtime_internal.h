#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/template_internal.h"
#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

// What things cost, in steps. Whatever it is spent on, a step takes 0.2 microseconds and keeps 40
// bytes at most, as measured; see Limits::max_steps for what that comes to.
inline constexpr std::uint64_t kBytesReadAStep = 64;       // compared, searched, hashed or copied
inline constexpr std::uint64_t kCharacterBytesAStep = 16;  // looked at one by one, or made
inline constexpr std::uint64_t kStepsAnItem = 3;           // a place in a list
inline constexpr std::uint64_t kStepsAnEntry = 8;          // one of a dict, or a pair of values
inline constexpr std::uint64_t kStepsAPart = 6;            // an item that is a text of its own
inline constexpr std::uint64_t kStepsAnObject = 20;        // what lives as long as the rendering
inline constexpr std::uint64_t kStepsAScope = 2;           // what a block's variables are kept in
inline constexpr std::uint64_t kVariablesAStep = 32;       // passed by while one is looked for

// Neither lists nor the characters of a text to go through may be more than this.
inline constexpr std::size_t kMaxItems = 1'000'000;

// What one rendering owns: its budget, the date that it is told, and the few values that can
// change. One thread.
//
// Everything is charged for before it is done, or bounded and charged for at once when it is done:
// what it reads and what it makes, in proportion.
class Runtime {
 public:
  explicit Runtime(const RenderOptions& options)
      : options_(options), num_steps_left_(options.limits.max_steps) {}

  // An error when the budget is used up.
  Result<void> charge(std::uint64_t num_steps) {
    if (num_steps > num_steps_left_) {
      num_steps_left_ = 0;
      return too_many_steps();
    }
    num_steps_left_ -= num_steps;
    return {};
  }

  Result<void> charge_reading(std::uint64_t num_bytes) {
    return charge(num_bytes / kBytesReadAStep);
  }

  Result<void> charge_characters(std::uint64_t num_bytes) {
    return charge(num_bytes / kCharacterBytesAStep);
  }

  // For looking for `wanted` in `text`.
  Result<void> charge_search(std::string_view text, std::string_view wanted) {
    return charge_characters(text.size() + wanted.size());
  }

  // Charges for a value that was made, and holds it against the limits on sizes.
  Result<void> charge_for(const Value& value);

  const std::optional<std::string>& date() const { return options_.date; }

  int max_depth() const { return options_.limits.max_depth; }

  Namespace& make_namespace();
  LoopState& keep_loop(std::unique_ptr<LoopState> loop);

  void keep(std::unique_ptr<Object> object) { objects_.push_back(std::move(object)); }

 private:
  Error too_many_steps() const;

  const RenderOptions& options_;
  std::uint64_t num_steps_left_;
  // None of these owns another, so that however they refer to each other they can go one by one.
  std::vector<std::unique_ptr<Namespace>> namespaces_;
  std::vector<std::unique_ptr<LoopState>> loops_;
  std::vector<std::unique_ptr<Object>> objects_;
};

// A text that would grow beyond MarkedText::kMaxBytes; `what` is "a text" or "the output".
Error text_overflow(std::string_view what = "a text");
// A list of more than kMaxItems items.
Error list_overflow();

}  // namespace rapt::jinja
