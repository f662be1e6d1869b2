#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

class Runtime;

// One run of a for loop: its items, and what `loop` tells about them. A loop's condition is looked
// at only when the next item is needed, for the body may change what the condition sees.
class LoopState {
 public:
  using Test = std::function<Result<bool>(const Value& item)>;
  // Runs the loop's body over other items and gives the text: for `recursive` loops.
  using Recurse = std::function<Result<Value>(const Value& items, int depth0)>;

  // `has_length`: Python could tell the number of items beforehand. `test` may be empty.
  LoopState(std::vector<Value> items, bool has_length, Test test, Recurse recurse, int depth0);

  // To the next item; false when there is none.
  Result<bool> advance();

  const Value& current() const { return current_; }

  // `loop.name`; nothing when a loop has no such attribute.
  Result<std::optional<Value>> attribute(std::string_view name);

  // loop.changed(...): whether `value` differs from that of the call before.
  Result<bool> changed(Runtime& runtime, const Value& value);

  Int index0() const { return index0_; }

  Result<Value> recurse(const Value& items) const;

  std::size_t length_or_zero() const { return has_length_ ? num_items_ : 0; }

  // Lets go of the items, when the loop is over.
  void end();

 private:
  Result<std::optional<Value>> take_next();
  Result<void> look_ahead();
  Result<Int> length();

  std::vector<Value> items_;
  std::size_t num_items_;
  bool has_length_;
  Test test_;
  Recurse recurse_;
  int depth0_;
  std::size_t next_ = 0;
  Int index0_ = -1;
  std::optional<Int> counted_length_;
  bool has_looked_ahead_ = false;
  std::optional<Value> ahead_;
  Value before_;
  Value current_;
  std::optional<Value> last_changed_;
};

}  // namespace rapt::jinja
