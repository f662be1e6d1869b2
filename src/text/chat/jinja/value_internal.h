#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/chat/jinja/marked_text_internal.h"
#include "text/chat/jinja/numbers_internal.h"

// The values of the template language: Python's, as far as templates can see them. Nothing that a
// template can hold changes, except namespaces, loops and iterators, which belong to one rendering.

namespace rapt::jinja {

enum class Kind : std::uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kSequence,  // list, tuple, range, views of a dict
  kDict,
  kIterator,  // what map, select and the like give: can be read once
  kNamespace,
  kLoop,
  kCallable,  // functions, methods, macros, cycler, joiner
};

// How deep lists may be nested in each other; JSON that reaches a template stays far below.
inline constexpr int kMaxValueDepth = 120;

// What Value::weight() counts for a value beside its text, and where it stops to count.
inline constexpr std::uint64_t kValueWeight = 16;
inline constexpr std::uint64_t kMaxWeight = std::uint64_t{1} << 50;

class Value;

// What a Value points at. Shared, because constants are used by all renderings at once.
class Object {
 public:
  virtual ~Object() = default;
};

struct Sequence;
class Dict;
struct Iterator;
class Namespace;
class LoopState;
class Callable;

class Value {
 public:
  // Undefined without a story.
  Value() = default;

  static Value undefined(std::string message, bool is_forbidden = false);
  static Value none();
  static Value boolean(bool value);
  static Value integer(Int value);
  static Value real(double value);
  static Value text(MarkedText text);
  static Value text(std::string bytes, Origin origin = Origin::kTemplate);
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value sequence(Sequence sequence);
  static Value dict(Dict dict);
  static Value iterator(std::vector<Value> items);
  static Value callable(std::unique_ptr<Callable> callable);
  // Not owned: these two belong to the rendering, which outlives its values.
  static Value name_space(Namespace& space);
  static Value loop(LoopState& loop);

  Kind kind() const { return kind_; }

  bool is(Kind kind) const { return kind_ == kind; }

  bool is_undefined() const { return kind_ == Kind::kUndefined; }

  bool is_none() const { return kind_ == Kind::kNone; }

  bool is_text() const { return kind_ == Kind::kText; }

  // Bool counts as a whole number everywhere in Python.
  bool is_int() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }

  bool is_number() const { return is_int() || kind_ == Kind::kFloat; }

  bool as_bool() const { return int_ != 0; }

  Int as_int() const { return int_; }

  double as_double() const { return kind_ == Kind::kFloat ? real_ : static_cast<double>(int_); }

  const MarkedText& as_text() const;

  std::string_view as_bytes() const { return as_text().bytes(); }

  const Sequence& as_sequence() const;
  const Dict& as_dict() const;
  Iterator& as_iterator() const;

  Namespace& as_namespace() const { return *static_cast<Namespace*>(raw_); }

  LoopState& as_loop() const { return *static_cast<LoopState*>(raw_); }

  const Callable& as_callable() const;

  // Why an undefined value is undefined: "'x' is undefined".
  std::string undefined_message() const;
  // Undefined because the sandbox hides the attribute.
  bool is_forbidden() const;

  // How deep lists and the like are nested in this value: 0 for a text or a number.
  int depth() const;
  // How much there is to read in this value, in bytes: its text, and all that is in it. What is in
  // it twice is counted twice, as whoever reads it meets it twice; at kMaxWeight the count stops.
  std::uint64_t weight() const;
  bool is_true() const;
  // Whether this is the same object as the other: `is` in Python.
  bool is_same(const Value& other) const;
  // "str", "list", "NoneType": for messages.
  std::string type_name() const;

 private:
  Kind kind_ = Kind::kUndefined;

  union {
    Int int_ = 0;
    double real_;
    void* raw_;
  };

  std::shared_ptr<const Object> object_;
};

enum class SequenceType : std::uint8_t { kList, kTuple, kRange, kKeys, kValues, kItems };

struct Sequence final : Object {
  SequenceType type = SequenceType::kList;
  std::vector<Value> items = {};
  int depth = 1;  // filled in by Value::sequence(), as the next one
  std::uint64_t weight = kValueWeight;
  Int range_start = 0;
  Int range_stop = 0;
  Int range_step = 1;
  bool is_group = false;  // a tuple of groupby(), whose parts have names

  bool can_be_indexed() const { return type <= SequenceType::kRange; }
};

// Keys in the order in which they came. Keys are hashable: put() makes sure.
class Dict final : public Object {
 public:
  using Entry = std::pair<Value, Value>;

  const std::vector<Entry>& entries() const { return entries_; }

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  // A later value replaces an earlier one in its place. Fails for a key that has no hash.
  Result<void> put(Value key, Value value);
  void put(std::string key, Value value, Origin origin = Origin::kTemplate);

  int depth() const { return depth_; }

  std::uint64_t weight() const { return weight_; }

 private:
  std::size_t position(const Value& key, std::size_t hash) const;
  void put_hashed(Value key, Value value, std::size_t hash);

  std::vector<Entry> entries_;
  std::unordered_multimap<std::size_t, std::size_t> positions_;  // by hash
  int depth_ = 1;
  std::uint64_t weight_ = kValueWeight;
};

// Items that are read once, as from a Python generator.
struct Iterator final : Object {
  std::vector<Value> items;
  std::size_t num_read = 0;
  int depth = 1;
  std::uint64_t weight = kValueWeight;
};

// namespace(): the one thing that assignments can change. One rendering's.
class Namespace {
 public:
  const Value* find(std::string_view name) const { return attributes_.find(name); }

  void set(std::string_view name, Value value) {
    attributes_.put(std::string(name), std::move(value));
  }

  const Dict& attributes() const { return attributes_; }

 private:
  Dict attributes_;
};

}  // namespace rapt::jinja
