#include <algorithm>
#include <bitset>

#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/text_search_internal.h"

namespace rapt::jinja {

namespace {

// The characters that strip() takes away: those of a text, or white space.
class StripSet {
 public:
  explicit StripSet(std::optional<std::string_view> chars) : is_space_(!chars) {
    for (std::size_t pos = 0; chars && pos < chars->size();) {
      const CodePoint c = code_point_at(*chars, pos);
      if (c.value < kAscii) {
        ascii_.set(c.value);
      } else {
        others_.push_back(c.value);
      }
      pos += c.num_bytes;
    }
    std::ranges::sort(others_);
  }

  bool holds(const CodePoint& c) const {
    if (is_space_) {
      return is_space(c.value);
    }
    return c.value < kAscii ? ascii_.test(c.value) : std::ranges::binary_search(others_, c.value);
  }

 private:
  static constexpr std::size_t kAscii = 0x80;

  bool is_space_;
  std::bitset<kAscii> ascii_;
  std::vector<std::uint32_t> others_;
};

// At most as much as a text takes, and a little more.
std::string repeated(std::string_view text, Int count) {
  const auto most = static_cast<Int>(MarkedText::kMaxBytes / text.size()) + 1;
  std::string out;
  for (Int i = 0; i < std::min(count, most); ++i) {
    out += text;
  }
  return out;
}

bool is_cased(std::uint32_t code_point) {
  return is_upper(code_point) || is_lower(code_point) || is_title(code_point);
}

}  // namespace

MarkedText strip(
    const MarkedText& text, std::optional<std::string_view> chars, bool left, bool right
) {
  const std::string& bytes = text.bytes();
  const StripSet set(chars);
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (left && begin < end) {
    const CodePoint c = code_point_at(bytes, begin);
    if (!set.holds(c)) {
      break;
    }
    begin += c.num_bytes;
  }
  while (right && end > begin) {
    const std::size_t last = begin_of_previous(bytes, end);
    if (!set.holds(code_point_at(bytes, last))) {
      break;
    }
    end = last;
  }
  return text.slice(begin, end);
}

MarkedText replace(
    const MarkedText& text, std::string_view old, const MarkedText& replacement, Int count
) {
  const std::string& bytes = text.bytes();
  MarkedText out;
  std::size_t pos = 0;
  if (old.empty()) {
    // Between all characters, and at both ends.
    for (; count != 0 && pos <= bytes.size() && !out.overflowed(); --count) {
      out.append(replacement);
      if (pos == bytes.size()) {
        return out;
      }
      const std::size_t end = pos + code_point_at(bytes, pos).num_bytes;
      out.append(text, pos, end);
      pos = end;
    }
    out.append(text, pos);
    return out;
  }
  for (; count != 0 && !out.overflowed(); --count) {
    const std::size_t found = find_text(bytes, old, pos);
    if (found == std::string::npos) {
      break;
    }
    out.append(text, pos, found);
    out.append(replacement);
    pos = found + old.size();
  }
  out.append(text, pos);
  return out;
}

Result<std::vector<MarkedText>> split(
    Runtime& runtime,
    const MarkedText& text,
    std::string_view separator,
    Int max_cuts,
    bool from_right
) {
  const std::string& bytes = text.bytes();
  RETURN_IF_ERROR(runtime.charge_search(bytes, separator));
  std::vector<MarkedText> parts;
  if (from_right) {
    const BackwardSearch search(bytes, separator);
    std::size_t end = bytes.size();
    for (; max_cuts != 0; --max_cuts) {
      const std::size_t found = search.find(end);
      if (found == std::string::npos) {
        break;
      }
      RETURN_IF_ERROR(runtime.charge(kStepsAPart));
      parts.push_back(text.slice(found + separator.size(), end));
      end = found;
    }
    parts.push_back(text.slice(0, end));
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  std::size_t begin = 0;
  for (; max_cuts != 0; --max_cuts) {
    const std::size_t found = find_text(bytes, separator, begin);
    if (found == std::string::npos) {
      break;
    }
    RETURN_IF_ERROR(runtime.charge(kStepsAPart));
    parts.push_back(text.slice(begin, found));
    begin = found + separator.size();
  }
  parts.push_back(text.slice(begin, bytes.size()));
  return parts;
}

namespace {

// Where a word that begins at `begin` ends, and where white space from `begin` on does.
std::size_t end_of(std::string_view bytes, std::size_t begin, bool is_blank) {
  while (begin < bytes.size()) {
    const CodePoint c = code_point_at(bytes, begin);
    if (is_space(c.value) != is_blank) {
      break;
    }
    begin += c.num_bytes;
  }
  return begin;
}

// The same from the other side.
std::size_t begin_of(std::string_view bytes, std::size_t end, bool is_blank) {
  while (end > 0) {
    const std::size_t previous = begin_of_previous(bytes, end);
    if (is_space(code_point_at(bytes, previous).value) != is_blank) {
      break;
    }
    end = previous;
  }
  return end;
}

}  // namespace

Result<std::vector<MarkedText>> split_words(
    Runtime& runtime, const MarkedText& text, Int max_cuts, bool from_right
) {
  const std::string_view bytes = text.bytes();
  RETURN_IF_ERROR(runtime.charge_characters(bytes.size()));
  std::vector<MarkedText> parts;
  // What is left to cut, without white space at the side where the cutting goes on.
  std::size_t begin = from_right ? 0 : end_of(bytes, 0, true);
  std::size_t end = from_right ? begin_of(bytes, bytes.size(), true) : bytes.size();
  for (; begin < end && max_cuts != 0; --max_cuts) {
    RETURN_IF_ERROR(runtime.charge(kStepsAPart));
    if (from_right) {
      const std::size_t word = begin_of(bytes, end, false);
      parts.push_back(text.slice(word, end));
      end = begin_of(bytes, word, true);
    } else {
      const std::size_t word_end = end_of(bytes, begin, false);
      parts.push_back(text.slice(begin, word_end));
      begin = end_of(bytes, word_end, true);
    }
  }
  if (begin < end) {
    parts.push_back(text.slice(begin, end));
  }
  if (from_right) {
    std::reverse(parts.begin(), parts.end());
  }
  return parts;
}

Result<std::vector<MarkedText>> split_lines(
    Runtime& runtime, const MarkedText& text, bool keep_ends
) {
  const std::string& bytes = text.bytes();
  RETURN_IF_ERROR(runtime.charge_characters(bytes.size()));
  std::vector<MarkedText> lines;
  std::size_t begin = 0;
  std::size_t pos = 0;
  while (pos < bytes.size()) {
    const CodePoint c = code_point_at(bytes, pos);
    if (!is_line_end(c.value)) {
      pos += c.num_bytes;
      continue;
    }
    const bool is_pair = c.value == '\r' && pos + 1 < bytes.size() && bytes[pos + 1] == '\n';
    const std::size_t end = pos + c.num_bytes + (is_pair ? 1 : 0);
    RETURN_IF_ERROR(runtime.charge(kStepsAPart));
    lines.push_back(text.slice(begin, keep_ends ? end : pos));
    begin = end;
    pos = end;
  }
  if (begin < bytes.size()) {
    lines.push_back(text.slice(begin, bytes.size()));
  }
  return lines;
}

MarkedText with_cases(
    const MarkedText& text, const std::function<std::optional<Case>(const CodePoint&)>& wanted
) {
  MarkedText out;
  const std::string& bytes = text.bytes();
  for (std::size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = code_point_at(bytes, pos);
    const std::optional<Case> target = wanted(c);
    if (target) {
      out.append(in_case(c.value, *target), text.origin_at(pos));
    } else {
      out.append(text, pos, pos + c.num_bytes);
    }
    pos += c.num_bytes;
  }
  return out;
}

MarkedText to_case(const MarkedText& text, Case wanted) {
  return with_cases(text, [wanted](const CodePoint&) { return wanted; });
}

MarkedText capitalize(const MarkedText& text) {
  bool is_first = true;
  return with_cases(text, [&is_first](const CodePoint&) {
    return std::exchange(is_first, false) ? Case::kTitle : Case::kLower;
  });
}

MarkedText title_words(const MarkedText& text) {
  bool is_inside = false;
  return with_cases(text, [&is_inside](const CodePoint& c) {
    const Case wanted = is_inside ? Case::kLower : Case::kTitle;
    is_inside = is_cased(c.value);
    return wanted;
  });
}

MarkedText pad(const MarkedText& text, Int width, std::string_view fill, Align align) {
  const Int missing = width - static_cast<Int>(num_code_points(text.bytes()));
  if (missing <= 0) {
    return text;
  }
  // As Python does it: an odd blank goes to the left where the width is odd.
  const Int left = align == Align::kLeft    ? 0
                   : align == Align::kRight ? missing
                                            : missing / 2 + (missing & width & 1);
  MarkedText out;
  out.append(repeated(fill, left), Origin::kTemplate);
  out.append(text);
  out.append(repeated(fill, missing - left), Origin::kTemplate);
  return out;
}

}  // namespace rapt::jinja
