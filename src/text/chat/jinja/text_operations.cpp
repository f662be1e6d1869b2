#include <algorithm>

#include "text/chat/jinja/text_operations_internal.h"

namespace rapt::jinja {

namespace {

bool is_one_of(const CodePoint& c, std::optional<std::string_view> chars) {
  if (!chars) {
    return is_space(c.value);
  }
  for (std::size_t pos = 0; pos < chars->size();) {
    const CodePoint candidate = code_point_at(*chars, pos);
    if (candidate.value == c.value) {
      return true;
    }
    pos += candidate.num_bytes;
  }
  return false;
}

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
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (left && begin < end) {
    const CodePoint c = code_point_at(bytes, begin);
    if (!is_one_of(c, chars)) {
      break;
    }
    begin += c.num_bytes;
  }
  while (right && end > begin) {
    const std::size_t last = begin_of_previous(bytes, end);
    if (!is_one_of(code_point_at(bytes, last), chars)) {
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
    const std::size_t found = bytes.find(old, pos);
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

std::vector<MarkedText> split(
    const MarkedText& text, std::string_view separator, Int max_cuts, bool from_right
) {
  const std::string& bytes = text.bytes();
  std::vector<MarkedText> parts;
  if (from_right) {
    std::size_t end = bytes.size();
    for (; max_cuts != 0 && end >= separator.size(); --max_cuts) {
      const std::size_t found = bytes.rfind(separator, end - separator.size());
      if (found == std::string::npos) {
        break;
      }
      parts.push_back(text.slice(found + separator.size(), end));
      end = found;
    }
    parts.push_back(text.slice(0, end));
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  std::size_t begin = 0;
  for (; max_cuts != 0; --max_cuts) {
    const std::size_t found = bytes.find(separator, begin);
    if (found == std::string::npos) {
      break;
    }
    parts.push_back(text.slice(begin, found));
    begin = found + separator.size();
  }
  parts.push_back(text.slice(begin, bytes.size()));
  return parts;
}

std::vector<MarkedText> split_words(const MarkedText& text, Int max_cuts, bool from_right) {
  std::vector<MarkedText> parts;
  MarkedText rest = strip(text, std::nullopt, !from_right, from_right);
  while (!rest.empty() && max_cuts != 0) {
    const std::string& bytes = rest.bytes();
    std::size_t begin = from_right ? bytes.size() : 0;
    std::size_t end = begin;
    if (from_right) {
      while (begin > 0) {
        const std::size_t previous = begin_of_previous(bytes, begin);
        if (is_space(code_point_at(bytes, previous).value)) {
          break;
        }
        begin = previous;
      }
    } else {
      while (end < bytes.size() && !is_space(code_point_at(bytes, end).value)) {
        end += code_point_at(bytes, end).num_bytes;
      }
    }
    parts.push_back(rest.slice(begin, end));
    const MarkedText behind = from_right ? rest.slice(0, begin) : rest.slice(end, bytes.size());
    rest = strip(behind, std::nullopt, !from_right, from_right);
    --max_cuts;
  }
  if (!rest.empty()) {
    parts.push_back(std::move(rest));
  }
  if (from_right) {
    std::reverse(parts.begin(), parts.end());
  }
  return parts;
}

std::vector<MarkedText> split_lines(const MarkedText& text, bool keep_ends) {
  const std::string& bytes = text.bytes();
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

MarkedText join(const std::vector<MarkedText>& parts, const MarkedText& separator) {
  MarkedText out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      out.append(separator);
    }
    out.append(parts[i]);
  }
  return out;
}

}  // namespace rapt::jinja
