#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// map, and the filters that keep some items. Python works these out when they are read, and we at
// once; a template could tell by an error in an item that is never read.

namespace rapt::jinja {

namespace {

// The builtin called by the first of `arguments`, which is taken from them.
Result<const Builtin*> take_named(
    Arguments& arguments, std::string_view what, const Builtin* (*find)(std::string_view)
) {
  const Value name = std::move(arguments.positional.front());
  arguments.positional.erase(arguments.positional.begin());
  const Builtin* found = name.is_text() ? find(name.as_bytes()) : nullptr;
  if (found == nullptr) {
    return invalid_argument(
        "there is no " + std::string(what) + " '" +
        (name.is_text() ? shortened(name.as_bytes()) : name.type_name()) + "'"
    );
  }
  return found;
}

Result<Value> map_attribute(const Call& call, const std::vector<Value>& items) {
  Value attribute = Value::none();
  std::optional<Value> absent;
  for (const auto& [name, value] : call.rest.keywords) {
    if (name == "attribute") {
      attribute = value;
    } else if (name == "default") {
      absent = value.is_none() ? std::nullopt : std::optional<Value>(value);
    } else {
      return invalid_argument("Unexpected keyword argument '" + shortened(name) + "'");
    }
  }
  ASSIGN_OR_RETURN(
      const AttributeGetter getter,
      AttributeGetter::make(call.runtime, attribute, false, std::move(absent))
  );
  std::vector<Value> mapped;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value value, getter.get(call.runtime, item));
    mapped.push_back(std::move(value));
  }
  return Value::iterator(std::move(mapped));
}

Result<Value> filter_map(const Call& call) {
  if (!call.self.is_true()) {
    return Value::iterator({});
  }
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  if (call.rest.positional.empty()) {
    if (call.rest.keywords.empty()) {
      return invalid_argument("map requires a filter argument");
    }
    return map_attribute(call, items);
  }
  Arguments arguments = call.rest;
  ASSIGN_OR_RETURN(const Builtin* const filter, take_named(arguments, "filter", find_filter));
  std::vector<Value> mapped;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value value, call_builtin(*filter, call.runtime, item, arguments));
    RETURN_IF_ERROR(call.runtime.charge(1));
    RETURN_IF_ERROR(call.runtime.charge_for(value));
    mapped.push_back(std::move(value));
  }
  return Value::iterator(std::move(mapped));
}

Result<Value> keep_items(const Call& call, bool by_attribute, bool keeps_true) {
  if (!call.self.is_true()) {
    return Value::iterator({});
  }
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  Arguments arguments = call.rest;
  Value attribute = Value::none();
  if (by_attribute) {
    if (arguments.positional.empty()) {
      return invalid_argument("Missing parameter for attribute name");
    }
    attribute = arguments.positional.front();
    arguments.positional.erase(arguments.positional.begin());
  }
  const Builtin* test = nullptr;
  if (!arguments.positional.empty()) {
    ASSIGN_OR_RETURN(test, take_named(arguments, "test", find_test));
  }
  ASSIGN_OR_RETURN(
      const AttributeGetter getter, AttributeGetter::make(call.runtime, attribute, false)
  );
  std::vector<Value> kept;
  for (const Value& item : items) {
    RETURN_IF_ERROR(call.runtime.charge(1));
    ASSIGN_OR_RETURN(Value value, getter.get(call.runtime, item));
    if (test != nullptr) {
      ASSIGN_OR_RETURN(value, call_builtin(*test, call.runtime, value, arguments));
    }
    if (value.is_true() == keeps_true) {
      kept.push_back(item);
    }
  }
  return Value::iterator(std::move(kept));
}

Result<Value> filter_select(const Call& call) {
  return keep_items(call, false, true);
}

Result<Value> filter_reject(const Call& call) {
  return keep_items(call, false, false);
}

Result<Value> filter_selectattr(const Call& call) {
  return keep_items(call, true, true);
}

Result<Value> filter_rejectattr(const Call& call) {
  return keep_items(call, true, false);
}

constexpr Builtin kFilters[] = {
    {"map", "*", filter_map},
    {"select", "*", filter_select},
    {"reject", "*", filter_reject},
    {"selectattr", "*", filter_selectattr},
    {"rejectattr", "*", filter_rejectattr},
};

}  // namespace

std::span<const Builtin> selection_filters() {
  return kFilters;
}

}  // namespace rapt::jinja
