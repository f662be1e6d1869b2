#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// What templates can call by a name that nobody set.

namespace rapt::jinja {

namespace {

// Jinja's sandbox has the same bound.
constexpr Int kMaxRange = 100'000;

Result<Value> global_range(const Call& call) {
  Int bounds[3] = {0, 0, 1};
  for (std::size_t idx = 0; idx < 3; ++idx) {
    if (call.has(idx) && !call[idx].is_int()) {
      return invalid_argument(
          "'" + call[idx].type_name() + "' object cannot be interpreted as an integer"
      );
    }
    ASSIGN_OR_RETURN(bounds[idx], call.integer(idx, bounds[idx]));
  }
  const Int start = call.has(1) ? bounds[0] : 0;
  const Int stop = call.has(1) ? bounds[1] : bounds[0];
  const Int step = bounds[2];
  if (step == 0) {
    return invalid_argument("range() arg 3 must not be zero");
  }
  Sequence range;
  range.type = SequenceType::kRange;
  range.range_start = start;
  range.range_stop = stop;
  range.range_step = step;
  Int number = start;
  while (step > 0 ? number < stop : number > stop) {
    if (static_cast<Int>(range.items.size()) >= kMaxRange) {
      return invalid_argument("Range too big: more than " + int_text(kMaxRange) + " numbers");
    }
    range.items.push_back(Value::integer(number));
    if (__builtin_add_overflow(number, step, &number)) {
      break;
    }
  }
  return Value::sequence(std::move(range));
}

Result<Dict> dict_of(Runtime& runtime, const Arguments& arguments, std::string_view name) {
  Dict dict;
  RETURN_IF_ERROR(runtime.charge(kStepsAnEntry * arguments.keywords.size()));
  if (arguments.positional.size() > 1) {
    return invalid_argument(std::string(name) + "() takes at most one argument by place");
  }
  if (arguments.positional.size() == 1 && arguments.positional[0].is(Kind::kDict)) {
    RETURN_IF_ERROR(
        runtime.charge(kStepsAnEntry * arguments.positional[0].as_dict().entries().size())
    );
    dict = arguments.positional[0].as_dict();
  } else if (arguments.positional.size() == 1) {
    ASSIGN_OR_RETURN(const std::vector<Value> pairs, items_of(runtime, arguments.positional[0]));
    for (const Value& pair : pairs) {
      ASSIGN_OR_RETURN(std::vector<Value> parts, items_of(runtime, pair));
      if (parts.size() != 2) {
        return invalid_argument(std::string(name) + "() takes pairs of a key and a value");
      }
      RETURN_IF_ERROR(runtime.charge(kStepsAnEntry));
      RETURN_IF_ERROR(runtime.charge_reading(parts[0].weight()));
      RETURN_IF_ERROR(dict.put(std::move(parts[0]), std::move(parts[1])));
    }
  }
  for (const auto& [key, value] : arguments.keywords) {
    dict.put(key, value);
  }
  return dict;
}

Result<Value> global_dict(const Call& call) {
  ASSIGN_OR_RETURN(Dict dict, dict_of(call.runtime, call.rest, "dict"));
  return Value::dict(std::move(dict));
}

Result<Value> global_namespace(const Call& call) {
  ASSIGN_OR_RETURN(const Dict attributes, dict_of(call.runtime, call.rest, "namespace"));
  RETURN_IF_ERROR(call.runtime.charge(kStepsAnObject));
  Namespace& space = call.runtime.make_namespace();
  for (const auto& [key, value] : attributes.entries()) {
    ASSIGN_OR_RETURN(const MarkedText name, str_of(call.runtime, key));
    if (name.bytes().starts_with('_')) {
      return invalid_argument(
          "a namespace cannot have the attribute '" + shortened(name.bytes()) + "'"
      );
    }
    RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry));
    RETURN_IF_ERROR(call.runtime.charge_characters(name.size()));
    space.set(name.bytes(), value);
  }
  return Value::name_space(space);
}

// Gives its items one after the other, again and again. The rendering keeps the state, because the
// methods can outlive the value that they were taken from.
struct CyclerState final : Object {
  std::vector<Value> items;
  std::size_t pos = 0;

  Value next() {
    const Value item = items[pos];
    pos = (pos + 1) % items.size();
    return item;
  }

  Value reset() {
    pos = 0;
    return Value::none();
  }
};

class CyclerMethod final : public Callable {
 public:
  CyclerMethod(CyclerState& state, Value (CyclerState::*act)()) : state_(state), act_(act) {}

  Result<Value> call(Runtime&, Arguments) const override { return (state_.*act_)(); }

 private:
  CyclerState& state_;
  Value (CyclerState::*act_)();
};

class Cycler final : public Callable {
 public:
  explicit Cycler(CyclerState& state) : state_(state) {}

  Result<Value> call(Runtime&, Arguments) const override {
    return invalid_argument("a cycler is not callable: use .next()");
  }

  std::string type_name() const override { return "Cycler"; }

  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "current") {
      return state_.items[state_.pos];
    }
    if (name == "next") {
      return Value::callable(std::make_unique<CyclerMethod>(state_, &CyclerState::next));
    }
    if (name == "reset") {
      return Value::callable(std::make_unique<CyclerMethod>(state_, &CyclerState::reset));
    }
    return std::nullopt;
  }

 private:
  CyclerState& state_;
};

Result<Value> global_cycler(const Call& call) {
  if (call.rest.positional.empty()) {
    return invalid_argument("at least one item has to be provided");
  }
  RETURN_IF_ERROR(call.runtime.charge(kStepsAnObject + kStepsAnItem * call.rest.positional.size()));
  auto state = std::make_unique<CyclerState>();
  state->items = call.rest.positional;
  CyclerState& kept = *state;
  call.runtime.keep(std::move(state));
  return Value::callable(std::make_unique<Cycler>(kept));
}

// Gives nothing the first time, then its separator.
class Joiner final : public Callable {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}

  Result<Value> call(Runtime&, Arguments) const override {
    return std::exchange(is_used_, true) ? separator_ : Value::text("");
  }

  int depth() const override { return separator_.depth() + 1; }

  std::string type_name() const override { return "Joiner"; }

 private:
  Value separator_;
  mutable bool is_used_ = false;
};

Result<Value> global_joiner(const Call& call) {
  return Value::callable(std::make_unique<Joiner>(call.has(0) ? call[0] : Value::text(", ")));
}

Result<Value> global_raise_exception(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText message, str_of(call.runtime, call[0]));
  return invalid_argument(message.bytes());
}

// The day as a C time, at midnight.
std::optional<std::tm> read_date(std::string_view date) {
  std::tm time{};
  const auto number = [&date](std::size_t pos, std::size_t size) {
    int value = -1;
    if (pos + size <= date.size()) {
      std::from_chars(date.data() + pos, date.data() + pos + size, value);
    }
    return value;
  };
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(5, 2) - 1;
  time.tm_mday = number(8, 2);
  time.tm_isdst = 0;
  // Fills in the day of the week and of the year; noon, so that no time zone moves it.
  std::tm noon = time;
  noon.tm_hour = 12;
  if (date.size() != 10 || timegm(&noon) == static_cast<std::time_t>(-1) ||
      noon.tm_mday != time.tm_mday || noon.tm_mon != time.tm_mon) {
    return std::nullopt;
  }
  time.tm_wday = noon.tm_wday;
  time.tm_yday = noon.tm_yday;
  return time;
}

// The date that the request was given, not the clock's: the same request gives the same prompt.
Result<Value> global_strftime_now(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText format, call.text(0, ""));
  RETURN_IF_ERROR(call.runtime.charge_characters(format.size()));
  const std::optional<std::tm> time = read_date(*call.runtime.date());
  if (!time) {
    return invalid_argument("'" + *call.runtime.date() + "' is no date like 2025-12-31");
  }
  if (format.empty()) {
    return Value::text("");
  }
  std::string c_format;
  for (std::size_t pos = 0; pos < format.size(); ++pos) {
    c_format += format.bytes()[pos];
    if (format.bytes()[pos] == '%' && pos + 1 < format.size()) {
      ++pos;
      // Microseconds, which C does not know.
      c_format.replace(c_format.size() - 1, 1, format.bytes()[pos] == 'f' ? "000000" : "%");
      c_format += format.bytes()[pos] == 'f' ? std::string() : format.bytes().substr(pos, 1);
    }
  }
  std::array<char, 4096> text;
  const std::size_t size = std::strftime(text.data(), text.size(), c_format.c_str(), &*time);
  if (size == 0) {
    return invalid_argument("strftime_now() cannot write '" + shortened(format.bytes()) + "'");
  }
  return Value::text(std::string(text.data(), size));
}

constexpr Builtin kGlobals[] = {
    {"range", "start stop? step?", global_range},
    {"dict", "*", global_dict},
    {"namespace", "*", global_namespace},
    {"cycler", "*", global_cycler},
    {"joiner", "sep?", global_joiner},
    {"raise_exception", "message", global_raise_exception},
    {"strftime_now", "format", global_strftime_now},
};

}  // namespace

std::optional<Value> find_global(std::string_view name, bool has_date) {
  const auto* const found = std::ranges::find(kGlobals, name, &Builtin::name);
  if (found == std::end(kGlobals) || (name == "strftime_now" && !has_date)) {
    return std::nullopt;
  }
  return bound_builtin(*found, Value());
}

}  // namespace rapt::jinja
