#include <utility>

#include "text/chat/jinja/runtime_internal.h"

namespace rapt::jinja {

namespace {

// What an object takes beside what is in it.
constexpr std::uint64_t kStepsAValue = 2;
constexpr std::uint64_t kStepsAMessage = 4;

}  // namespace

Error Runtime::too_many_steps() const {
  return invalid_argument(
      "the template takes more than " + std::to_string(options_.limits.max_steps) + " steps"
  );
}

Result<void> Runtime::charge_for(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return charge(kStepsAMessage);
    case Kind::kText:
      if (value.as_text().overflowed()) {
        return text_overflow();
      }
      return charge_characters(value.as_text().size());
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
          kStepsAValue +
          (value.is(Kind::kSequence)   ? kStepsAnItem * value.as_sequence().items.size()
           : value.is(Kind::kDict)     ? kStepsAnEntry * value.as_dict().entries().size()
           : value.is(Kind::kIterator) ? kStepsAnItem * value.as_iterator().items.size()
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

Error text_overflow(std::string_view what) {
  return invalid_argument(
      std::string(what) + " grows beyond " + std::to_string(MarkedText::kMaxBytes >> 20) + " MiB"
  );
}

Error list_overflow() {
  return invalid_argument("a list grows beyond " + std::to_string(kMaxItems) + " items");
}

}  // namespace rapt::jinja
