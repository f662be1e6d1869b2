#include <utility>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/runtime_internal.h"

namespace rapt::jinja {

namespace {

class LoopCycle final : public Callable {
 public:
  explicit LoopCycle(const LoopState& loop) : loop_(loop) {}

  Result<Value> call(Runtime&, Arguments arguments) const override {
    if (arguments.positional.empty()) {
      return invalid_argument("no items for cycling given");
    }
    const auto count = static_cast<Int>(arguments.positional.size());
    return arguments.positional[static_cast<std::size_t>(loop_.index0() % count)];
  }

 private:
  const LoopState& loop_;
};

class LoopChanged final : public Callable {
 public:
  explicit LoopChanged(LoopState& loop) : loop_(loop) {}

  Result<Value> call(Runtime& runtime, Arguments arguments) const override {
    const Value value = Value::tuple(std::move(arguments.positional));
    RETURN_IF_ERROR(runtime.charge_for(value));
    ASSIGN_OR_RETURN(const bool has_changed, loop_.changed(runtime, value));
    return Value::boolean(has_changed);
  }

 private:
  LoopState& loop_;
};

}  // namespace

LoopState::LoopState(
    std::vector<Value> items, bool has_length, Test test, Recurse recurse, int depth0
)
    : items_(std::move(items)),
      num_items_(items_.size()),
      has_length_(has_length && !test),
      test_(std::move(test)),
      recurse_(std::move(recurse)),
      depth0_(depth0) {}

Result<std::optional<Value>> LoopState::take_next() {
  while (next_ < items_.size()) {
    const Value& item = items_[next_++];
    if (!test_) {
      return std::optional<Value>(item);
    }
    ASSIGN_OR_RETURN(const bool passes, test_(item));
    if (passes) {
      return std::optional<Value>(item);
    }
  }
  return std::optional<Value>();
}

// At the end Python looks again each time it is asked; there is nothing to find then.
Result<void> LoopState::look_ahead() {
  if (!has_looked_ahead_) {
    ASSIGN_OR_RETURN(ahead_, take_next());
    has_looked_ahead_ = true;
  }
  return {};
}

Result<bool> LoopState::advance() {
  RETURN_IF_ERROR(look_ahead());
  has_looked_ahead_ = false;
  if (!ahead_) {
    return false;
  }
  ++index0_;
  before_ = std::move(current_);
  current_ = *std::move(ahead_);
  ahead_.reset();
  return true;
}

Result<Int> LoopState::length() {
  if (has_length_) {
    return static_cast<Int>(num_items_);
  }
  if (!counted_length_) {
    std::vector<Value> rest;
    while (true) {
      ASSIGN_OR_RETURN(std::optional<Value> item, take_next());
      if (!item) {
        break;
      }
      rest.push_back(*std::move(item));
    }
    counted_length_ = static_cast<Int>(rest.size()) + index0_ + 1 + (ahead_ ? 1 : 0);
    items_ = std::move(rest);
    next_ = 0;
    test_ = nullptr;
  }
  return *counted_length_;
}

Result<std::optional<Value>> LoopState::attribute(std::string_view name) {
  const auto some = [](Value value) { return std::optional<Value>(std::move(value)); };
  if (name == "index") {
    return some(Value::integer(index0_ + 1));
  }
  if (name == "index0") {
    return some(Value::integer(index0_));
  }
  if (name == "first") {
    return some(Value::boolean(index0_ == 0));
  }
  if (name == "last") {
    RETURN_IF_ERROR(look_ahead());
    return some(Value::boolean(!ahead_));
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    ASSIGN_OR_RETURN(const Int all, length());
    if (name == "length") {
      return some(Value::integer(all));
    }
    return some(Value::integer(all - index0_ - (name == "revindex0" ? 1 : 0)));
  }
  if (name == "previtem") {
    return some(index0_ == 0 ? Value::undefined("there is no previous item") : before_);
  }
  if (name == "nextitem") {
    RETURN_IF_ERROR(look_ahead());
    return some(ahead_ ? *ahead_ : Value::undefined("there is no next item"));
  }
  if (name == "depth" || name == "depth0") {
    return some(Value::integer(depth0_ + (name == "depth" ? 1 : 0)));
  }
  if (name == "cycle") {
    return some(Value::callable(std::make_unique<LoopCycle>(*this)));
  }
  if (name == "changed") {
    return some(Value::callable(std::make_unique<LoopChanged>(*this)));
  }
  return std::optional<Value>();
}

Result<bool> LoopState::changed(Runtime& runtime, const Value& value) {
  if (last_changed_) {
    ASSIGN_OR_RETURN(const bool is_same, are_equal(runtime, *last_changed_, value));
    if (is_same) {
      return false;
    }
  }
  last_changed_ = value;
  return true;
}

Result<Value> LoopState::recurse(const Value& items) const {
  if (!recurse_) {
    return invalid_argument("only a loop with the mark 'recursive' can be called");
  }
  return recurse_(items, depth0_ + 1);
}

void LoopState::end() {
  items_.clear();
  ahead_.reset();
  before_ = Value();
  current_ = Value();
  last_changed_.reset();
  test_ = nullptr;
  recurse_ = nullptr;
}

}  // namespace rapt::jinja
