#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/hash_internal.h"
#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/value_internal.h"

namespace rapt::jinja {

namespace {

struct TextObject final : Object {
  explicit TextObject(MarkedText marked) : text(std::move(marked)) { text.drop_spare_room(); }

  MarkedText text;
};

struct UndefinedStory final : Object {
  UndefinedStory(std::string why, bool forbidden)
      : message(std::move(why)), is_forbidden(forbidden) {}

  std::string message;
  bool is_forbidden;
};

// In one piece with its count of owners.
template <typename Made, typename... Parts>
std::shared_ptr<const Object> make_object(Parts&&... parts) {
  return std::make_shared<const Made>(std::forward<Parts>(parts)...);
}

int depth_of(const std::vector<Value>& items) {
  int depth = 0;
  for (const Value& item : items) {
    depth = std::max(depth, item.depth());
  }
  return depth + 1;
}

std::uint64_t weight_of(const std::vector<Value>& items) {
  std::uint64_t weight = kValueWeight;
  for (const Value& item : items) {
    weight += kValueWeight + item.weight();
    if (weight >= kMaxWeight) {
      return kMaxWeight;
    }
  }
  return weight;
}

// Vectors that grew item by item have room for up to as many more.
void drop_spare_room(std::vector<Value>& items) {
  if (items.capacity() > items.size() + items.size() / 4) {
    items.shrink_to_fit();
  }
}

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

Value Value::undefined(std::string message, bool is_forbidden) {
  Value value;
  value.object_ = make_object<UndefinedStory>(std::move(message), is_forbidden);
  return value;
}

Value Value::none() {
  Value value;
  value.kind_ = Kind::kNone;
  return value;
}

Value Value::boolean(bool truth) {
  Value value;
  value.kind_ = Kind::kBool;
  value.int_ = truth ? 1 : 0;
  return value;
}

Value Value::integer(Int number) {
  Value value;
  value.kind_ = Kind::kInt;
  value.int_ = number;
  return value;
}

Value Value::real(double number) {
  Value value;
  value.kind_ = Kind::kFloat;
  value.real_ = number;
  return value;
}

Value Value::text(MarkedText text) {
  Value value;
  value.kind_ = Kind::kText;
  value.object_ = make_object<TextObject>(std::move(text));
  return value;
}

Value Value::text(std::string bytes, Origin origin) {
  return text(MarkedText(std::move(bytes), origin));
}

Value Value::list(std::vector<Value> items) {
  Sequence made;
  made.items = std::move(items);
  return sequence(std::move(made));
}

Value Value::tuple(std::vector<Value> items) {
  Sequence made;
  made.type = SequenceType::kTuple;
  made.items = std::move(items);
  return sequence(std::move(made));
}

Value Value::sequence(Sequence sequence) {
  drop_spare_room(sequence.items);
  sequence.depth = depth_of(sequence.items);
  sequence.weight = weight_of(sequence.items);
  Value value;
  value.kind_ = Kind::kSequence;
  value.object_ = make_object<Sequence>(std::move(sequence));
  return value;
}

Value Value::dict(Dict dict) {
  Value value;
  value.kind_ = Kind::kDict;
  value.object_ = make_object<Dict>(std::move(dict));
  return value;
}

Value Value::iterator(std::vector<Value> items) {
  drop_spare_room(items);
  auto made = std::make_unique<Iterator>();
  made->depth = depth_of(items);
  made->weight = weight_of(items);
  made->items = std::move(items);
  Value value;
  value.kind_ = Kind::kIterator;
  value.raw_ = made.get();
  value.object_ = std::move(made);
  return value;
}

Value Value::callable(std::unique_ptr<Callable> callable) {
  Value value;
  value.kind_ = Kind::kCallable;
  value.object_ = std::move(callable);
  return value;
}

Value Value::name_space(Namespace& space) {
  Value value;
  value.kind_ = Kind::kNamespace;
  value.raw_ = &space;
  return value;
}

Value Value::loop(LoopState& loop) {
  Value value;
  value.kind_ = Kind::kLoop;
  value.raw_ = &loop;
  return value;
}

const MarkedText& Value::as_text() const {
  CHECK(kind_ == Kind::kText, "a ", type_name(), " is no text");
  return static_cast<const TextObject&>(*object_).text;
}

const Sequence& Value::as_sequence() const {
  CHECK(kind_ == Kind::kSequence, "a ", type_name(), " is no sequence");
  return static_cast<const Sequence&>(*object_);
}

const Dict& Value::as_dict() const {
  CHECK(kind_ == Kind::kDict, "a ", type_name(), " is no dict");
  return static_cast<const Dict&>(*object_);
}

Iterator& Value::as_iterator() const {
  CHECK(kind_ == Kind::kIterator, "a ", type_name(), " is no iterator");
  return *static_cast<Iterator*>(raw_);
}

const Callable& Value::as_callable() const {
  CHECK(kind_ == Kind::kCallable, "a ", type_name(), " cannot be called");
  return static_cast<const Callable&>(*object_);
}

std::string Value::undefined_message() const {
  return object_ ? static_cast<const UndefinedStory&>(*object_).message : "the value is undefined";
}

bool Value::is_forbidden() const {
  return is_undefined() && object_ && static_cast<const UndefinedStory&>(*object_).is_forbidden;
}

int Value::depth() const {
  switch (kind_) {
    case Kind::kSequence:
      return as_sequence().depth;
    case Kind::kDict:
      return as_dict().depth();
    case Kind::kIterator:
      return as_iterator().depth;
    case Kind::kCallable:
      return as_callable().depth();
    default:
      return 0;
  }
}

std::uint64_t Value::weight() const {
  switch (kind_) {
    case Kind::kText:
      return kValueWeight + as_text().size();
    case Kind::kSequence:
      return as_sequence().weight;
    case Kind::kDict:
      return as_dict().weight();
    case Kind::kIterator:
      return as_iterator().weight;
    default:
      return kValueWeight;
  }
}

bool Value::is_true() const {
  switch (kind_) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return int_ != 0;
    case Kind::kFloat:
      return real_ != 0.0;
    case Kind::kText:
      return !as_text().empty();
    case Kind::kSequence:
      return !as_sequence().items.empty();
    case Kind::kDict:
      return !as_dict().entries().empty();
    case Kind::kLoop:
      return as_loop().length_or_zero() != 0;
    default:
      return true;
  }
}

bool Value::is_same(const Value& other) const {
  if (kind_ != other.kind_) {
    return false;
  }
  switch (kind_) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return int_ == other.int_;
    case Kind::kNamespace:
    case Kind::kLoop:
      return raw_ == other.raw_;
    case Kind::kFloat:
      return false;
    default:
      return object_ == other.object_ && object_ != nullptr;
  }
}

std::string Value::type_name() const {
  switch (kind_) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kSequence: {
      constexpr const char* kNames[] = {
          "list", "tuple", "range", "dict_keys", "dict_values", "dict_items"};
      return kNames[static_cast<std::size_t>(as_sequence().type)];
    }
    case Kind::kDict:
      return "dict";
    case Kind::kIterator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCallable:
      return as_callable().type_name();
  }
  return "";
}

const Value* Dict::find(const Value& key) const {
  const std::optional<std::size_t> hash = hash_of(key);
  const std::size_t found = hash ? position(key, *hash) : kNowhere;
  return found == kNowhere ? nullptr : &entries_[found].second;
}

const Value* Dict::find(std::string_view key) const {
  const auto [begin, end] = positions_.equal_range(hash_of_text(key));
  for (auto at = begin; at != end; ++at) {
    const Value& candidate = entries_[at->second].first;
    if (candidate.is_text() && candidate.as_bytes() == key) {
      return &entries_[at->second].second;
    }
  }
  return nullptr;
}

std::size_t Dict::position(const Value& key, std::size_t hash) const {
  const auto [begin, end] = positions_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (equal_as_items(entries_[at->second].first, key)) {
      return at->second;
    }
  }
  return kNowhere;
}

Result<void> Dict::put(Value key, Value value) {
  const std::optional<std::size_t> hash = hash_of(key);
  if (!hash) {
    return invalid_argument("a " + key.type_name() + " cannot be a key: it has no hash");
  }
  put_hashed(std::move(key), std::move(value), *hash);
  return {};
}

void Dict::put(std::string key, Value value, Origin origin) {
  const std::size_t hash = hash_of_text(key);
  put_hashed(Value::text(std::move(key), origin), std::move(value), hash);
}

void Dict::put_hashed(Value key, Value value, std::size_t hash) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  weight_ = std::min(weight_ + 2 * kValueWeight + key.weight() + value.weight(), kMaxWeight);
  const std::size_t found = position(key, hash);
  if (found != kNowhere) {
    entries_[found].second = std::move(value);
    return;
  }
  positions_.emplace(hash, entries_.size());
  entries_.emplace_back(std::move(key), std::move(value));
}

}  // namespace rapt::jinja
