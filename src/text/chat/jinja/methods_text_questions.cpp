#include <algorithm>
#include <span>

#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/text_search_internal.h"

// Methods of strings that ask something about them.

namespace rapt::jinja {

namespace {

const std::string& bytes_of(const Call& call) {
  return call.self.as_text().bytes();
}

// The part of a text between two character indices, as Python clamps them.
struct Part {
  std::string_view bytes = {};
  Int first_character = 0;
  bool is_possible = true;  // false: begins behind its end
};

// `idx` and `idx` + 1 are the arguments `start` and `end`.
Result<Part> part_of(const Call& call, std::size_t idx) {
  const std::string_view bytes = bytes_of(call);
  RETURN_IF_ERROR(call.runtime.charge_reading(bytes.size()));
  const auto size = static_cast<Int>(num_code_points(bytes));
  ASSIGN_OR_RETURN(Int start, call.integer(idx, 0));
  ASSIGN_OR_RETURN(Int end, call.integer(idx + 1, size));
  start = start < 0 ? std::max<Int>(start + size, 0) : start;
  end = std::min(end < 0 ? std::max<Int>(end + size, 0) : end, size);
  if (start > end) {
    return Part{.first_character = start, .is_possible = false};
  }
  const std::size_t begin_byte = byte_offset(bytes, static_cast<std::size_t>(start));
  const std::size_t end_byte = byte_offset(bytes, static_cast<std::size_t>(end));
  return Part{bytes.substr(begin_byte, end_byte - begin_byte), start, true};
}

// The place of the argument in the text, in characters; -1 when it is not there.
Result<Int> find_from(const Call& call, bool from_right) {
  ASSIGN_OR_RETURN(const MarkedText wanted, call.text(0, ""));
  ASSIGN_OR_RETURN(const Part part, part_of(call, 1));
  RETURN_IF_ERROR(call.runtime.charge_search(part.bytes, wanted.bytes()));
  const std::size_t found = !part.is_possible ? std::string_view::npos
                            : from_right
                                ? BackwardSearch(part.bytes, wanted.bytes()).find(part.bytes.size())
                                : find_text(part.bytes, wanted.bytes());
  if (found == std::string_view::npos) {
    return Int{-1};
  }
  return part.first_character + static_cast<Int>(num_code_points(part.bytes.substr(0, found)));
}

Result<Value> place(const Call& call, bool from_right, bool must_be_there) {
  ASSIGN_OR_RETURN(const Int found, find_from(call, from_right));
  if (found < 0 && must_be_there) {
    return invalid_argument("substring not found");
  }
  return Value::integer(found);
}

Result<Value> method_find(const Call& call) {
  return place(call, false, false);
}

Result<Value> method_rfind(const Call& call) {
  return place(call, true, false);
}

Result<Value> method_index(const Call& call) {
  return place(call, false, true);
}

Result<Value> method_rindex(const Call& call) {
  return place(call, true, true);
}

Result<Value> method_count(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText wanted, call.text(0, ""));
  ASSIGN_OR_RETURN(const Part part, part_of(call, 1));
  if (!part.is_possible) {
    return Value::integer(0);
  }
  if (wanted.empty()) {
    return Value::integer(static_cast<Int>(num_code_points(part.bytes)) + 1);
  }
  RETURN_IF_ERROR(call.runtime.charge_search(part.bytes, wanted.bytes()));
  Int count = 0;
  for (std::size_t pos = find_text(part.bytes, wanted.bytes()); pos != std::string_view::npos;
       pos = find_text(part.bytes, wanted.bytes(), pos + wanted.size())) {
    ++count;
  }
  return Value::integer(count);
}

// One string, or a tuple of which one must fit.
Result<Value> fits(const Call& call, bool (*fit)(std::string_view, std::string_view)) {
  ASSIGN_OR_RETURN(const Part part, part_of(call, 1));
  std::span<const Value> candidates(&call[0], 1);
  if (call[0].is(Kind::kSequence) && call[0].as_sequence().type == SequenceType::kTuple) {
    candidates = call[0].as_sequence().items;
  }
  // Nothing is compared with more than the text itself.
  RETURN_IF_ERROR(call.runtime.charge_reading(
      std::min(candidates.size() * (kValueWeight + part.bytes.size()), call[0].weight())
  ));
  bool does_fit = false;
  for (const Value& candidate : candidates) {
    if (!candidate.is_text()) {
      return invalid_argument(
          "the first argument must be str or a tuple of str, not " + candidate.type_name()
      );
    }
    does_fit = does_fit || (part.is_possible && fit(part.bytes, candidate.as_bytes()));
  }
  return Value::boolean(does_fit);
}

Result<Value> method_startswith(const Call& call) {
  return fits(call, [](std::string_view text, std::string_view start) {
    return text.starts_with(start);
  });
}

Result<Value> method_endswith(const Call& call) {
  return fits(call, [](std::string_view text, std::string_view end) {
    return text.ends_with(end);
  });
}

// Whether all characters, and there must be some, are such.
template <bool (*question)(std::uint32_t)>
Result<Value> all_are(const Call& call) {
  RETURN_IF_ERROR(call.runtime.charge_characters(bytes_of(call).size()));
  const std::string& bytes = bytes_of(call);
  for (std::size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = code_point_at(bytes, pos);
    if (!question(c.value)) {
      return Value::boolean(false);
    }
    pos += c.num_bytes;
  }
  return Value::boolean(!bytes.empty());
}

bool is_alnum(std::uint32_t c) {
  return is_alpha(c) || is_decimal(c) || is_digit(c) || is_numeric(c);
}

Result<Value> method_isascii(const Call& call) {
  RETURN_IF_ERROR(call.runtime.charge_characters(bytes_of(call).size()));
  return Value::boolean(std::ranges::all_of(bytes_of(call), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  }));
}

Result<Value> method_isprintable(const Call& call) {
  if (bytes_of(call).empty()) {
    return Value::boolean(true);
  }
  return all_are<is_printable>(call);
}

bool has_case(std::uint32_t c) {
  return is_upper(c) || is_lower(c) || is_title(c);
}

// Some characters of the wanted case, and none of another.
Result<Value> only_case(const Call& call, bool (*is_wanted)(std::uint32_t)) {
  RETURN_IF_ERROR(call.runtime.charge_characters(bytes_of(call).size()));
  const std::string& bytes = bytes_of(call);
  bool has_wanted = false;
  for (std::size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = code_point_at(bytes, pos);
    if (is_wanted(c.value)) {
      has_wanted = true;
    } else if (has_case(c.value)) {
      return Value::boolean(false);
    }
    pos += c.num_bytes;
  }
  return Value::boolean(has_wanted);
}

Result<Value> method_isupper(const Call& call) {
  return only_case(call, is_upper);
}

Result<Value> method_islower(const Call& call) {
  return only_case(call, is_lower);
}

// Upper-case letters behind characters without case only, lower-case ones behind others only.
Result<Value> method_istitle(const Call& call) {
  RETURN_IF_ERROR(call.runtime.charge_characters(bytes_of(call).size()));
  const std::string& bytes = bytes_of(call);
  bool is_inside = false;
  bool has_cased = false;
  for (std::size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = code_point_at(bytes, pos);
    if (has_case(c.value)) {
      const bool begins_word = is_upper(c.value) || is_title(c.value);
      if (begins_word == is_inside) {
        return Value::boolean(false);
      }
      has_cased = true;
    }
    is_inside = has_case(c.value);
    pos += c.num_bytes;
  }
  return Value::boolean(has_cased);
}

constexpr Builtin kMethods[] = {
    {"find", "sub start? end?", method_find},
    {"rfind", "sub start? end?", method_rfind},
    {"index", "sub start? end?", method_index},
    {"rindex", "sub start? end?", method_rindex},
    {"count", "sub start? end?", method_count},
    {"startswith", "prefix start? end?", method_startswith},
    {"endswith", "suffix start? end?", method_endswith},
    {"isalpha", "", all_are<is_alpha>},
    {"isdigit", "", all_are<is_digit>},
    {"isdecimal", "", all_are<is_decimal>},
    {"isnumeric", "", all_are<is_numeric>},
    {"isalnum", "", all_are<is_alnum>},
    {"isspace", "", all_are<is_space>},
    {"isascii", "", method_isascii},
    {"isprintable", "", method_isprintable},
    {"isupper", "", method_isupper},
    {"islower", "", method_islower},
    {"istitle", "", method_istitle},
};

}  // namespace

std::span<const Builtin> text_question_methods() {
  return kMethods;
}

}  // namespace rapt::jinja
