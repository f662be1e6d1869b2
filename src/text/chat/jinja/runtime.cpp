#include <utility>

#include "text/chat/jinja/runtime_internal.h"

namespace rapt::jinja {

namespace {

// So that all that a template makes stays within some hundred megabytes.
constexpr std::uint64_t kBytesAStep = 16;
constexpr std::uint64_t kStepsAnItem = 3;

}  // namespace

Result<void> Runtime::charge(std::uint64_t num_steps) {
  num_steps_ += num_steps;
  if (num_steps_ > options_.limits.max_steps) {
    return invalid_argument(
        "the template takes more than " + std::to_string(options_.limits.max_steps) + " steps"
    );
  }
  return {};
}

Result<void> Runtime::charge_for(const Value& value) {
  switch (value.kind()) {
    case Kind::kText:
      if (value.as_text().overflowed()) {
        return invalid_argument(
            "a text grows beyond " + std::to_string(MarkedText::kMaxBytes >> 20) + " MiB"
        );
      }
      return charge(value.as_text().size() / kBytesAStep);
    case Kind::kSequence:
    case Kind::kDict:
    case Kind::kIterator:
    case Kind::kCallable:
      if (value.depth() > kMaxValueDepth) {
        return invalid_argument(
            "lists are nested more than " + std::to_string(kMaxValueDepth) + " deep"
        );
      }
      return charge(
          kStepsAnItem * (value.is(Kind::kSequence)   ? value.as_sequence().items.size()
                          : value.is(Kind::kDict)     ? value.as_dict().entries().size()
                          : value.is(Kind::kIterator) ? value.as_iterator().items.size()
                                                      : 0)
      );
    default:
      return {};
  }
}

Namespace& Runtime::make_namespace() {
  namespaces_.push_back(std::make_unique<Namespace>());
  return *namespaces_.back();
}

LoopState& Runtime::keep_loop(std::unique_ptr<LoopState> loop) {
  loops_.push_back(std::move(loop));
  return *loops_.back();
}

}  // namespace rapt::jinja
