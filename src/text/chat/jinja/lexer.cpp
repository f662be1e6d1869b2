#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "text/chat/jinja/lexer_internal.h"
#include "text/chat/jinja/string_literal_internal.h"
#include "text/chat/jinja/unicode_internal.h"

namespace rapt::jinja {

namespace {

// Longest first.
constexpr auto kOperators =
    std::to_array<std::string_view>({"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                     "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                     ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"});

bool is_digit_byte(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// All line ends become \n, and the one at the very end goes.
std::string with_plain_line_ends(std::string_view source) {
  std::string out;
  for (std::size_t pos = 0; pos < source.size(); ++pos) {
    if (source[pos] != '\r') {
      out += source[pos];
    } else {
      out += '\n';
      pos += pos + 1 < source.size() && source[pos + 1] == '\n' ? 1 : 0;
    }
  }
  if (out.ends_with('\n')) {
    out.pop_back();
  }
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(with_plain_line_ends(source)) {}

  Result<std::vector<Token>> run() {
    while (pos_ < source_.size()) {
      RETURN_IF_ERROR(read_data());
    }
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(pos_); }

  char at(std::size_t offset) const {
    return pos_ + offset < source_.size() ? source_[pos_ + offset] : '\0';
  }

  Error fail(const std::string& message) const { return template_error(line_, message); }

  void add(TokenKind kind, std::string text) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
  }

  // Goes on by `num_bytes`, counting lines.
  void skip(std::size_t num_bytes) {
    line_ += static_cast<int>(count_lines(rest().substr(0, num_bytes)));
    pos_ += num_bytes;
    is_line_start_ = pos_ > 0 && source_[pos_ - 1] == '\n';
  }

  void skip_spaces() {
    while (pos_ < source_.size()) {
      const CodePoint c = code_point_at(source_, pos_);
      if (!is_space(c.value)) {
        return;
      }
      skip(c.num_bytes);
    }
  }

  std::size_t spaces_from(std::size_t pos) const {
    while (pos < source_.size()) {
      const CodePoint c = code_point_at(source_, pos);
      if (!is_space(c.value)) {
        break;
      }
      pos += c.num_bytes;
    }
    return pos;
  }

  static std::string_view without_trailing_spaces(std::string_view text) {
    while (!text.empty()) {
      const std::size_t last = begin_of_previous(text, text.size());
      if (!is_space(code_point_at(text, last).value)) {
        break;
      }
      text = text.substr(0, last);
    }
    return text;
  }

  // What is left of the text before a tag: "-" takes all white space before the tag, and a tag that
  // is no variable takes the blanks between it and the begin of its line, unless "+" forbids it.
  std::string_view strip_before_tag(std::string_view text, char sign, bool is_variable) const {
    if (sign == '-') {
      return without_trailing_spaces(text);
    }
    if (sign == '+' || is_variable) {
      return text;
    }
    const std::size_t line_begin = text.rfind('\n') + 1;  // 0 where there is none
    const bool begins_line = line_begin > 0 || is_line_start_;
    const bool is_blank = without_trailing_spaces(text.substr(line_begin)).empty();
    return begins_line && is_blank ? text.substr(0, line_begin) : text;
  }

  void add_data(std::string_view stripped, std::size_t num_bytes) {
    if (!stripped.empty()) {
      add(TokenKind::kData, std::string(stripped));
    }
    skip(num_bytes);
  }

  // Text up to the next tag, and the tag.
  Result<void> read_data() {
    std::size_t begin = pos_;
    while (true) {
      begin = source_.find('{', begin);
      if (begin == std::string::npos || begin + 1 >= source_.size()) {
        add_data(rest(), source_.size() - pos_);
        return {};
      }
      const char kind = source_[begin + 1];
      if (kind == '{' || kind == '%' || kind == '#') {
        return read_tag(begin, kind);
      }
      ++begin;
    }
  }

  Result<void> read_tag(std::size_t begin, char kind) {
    const std::size_t sign_at = begin + 2;
    const char sign = sign_at < source_.size() ? source_[sign_at] : '\0';
    const bool has_sign = sign == '-' || sign == '+';
    const std::string_view text = std::string_view(source_).substr(pos_, begin - pos_);
    add_data(strip_before_tag(text, sign, kind == '{'), begin - pos_);
    if (kind == '%') {
      if (const auto raw_end = end_of_raw_tag(begin)) {
        skip(*raw_end - begin);
        return read_raw();
      }
    }
    const bool is_comment = kind == '#';
    if (!is_comment) {
      add(kind == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, "");
    }
    skip(has_sign ? 3 : 2);
    return is_comment ? read_comment() : read_expression(kind == '{');
  }

  // Where "{%- raw -%}" at `begin` ends, if it stands there.
  std::optional<std::size_t> end_of_raw_tag(std::size_t begin) const {
    std::size_t pos = begin + 2;
    if (pos < source_.size() && (source_[pos] == '-' || source_[pos] == '+')) {
      ++pos;
    }
    pos = spaces_from(pos);
    if (!std::string_view(source_).substr(pos).starts_with("raw")) {
      return std::nullopt;
    }
    pos = spaces_from(pos + 3);
    const std::string_view behind = std::string_view(source_).substr(pos);
    if (behind.starts_with("-%}")) {
      return spaces_from(pos + 3);
    }
    return behind.starts_with("%}") ? std::optional<std::size_t>(pos + 2) : std::nullopt;
  }

  // "%}", "-%}" or "+%}" (or with another letter than %) at the position: how far it reaches, with
  // the white space that it takes away.
  std::optional<std::size_t> end_of_tag(std::size_t pos, char kind) const {
    const char sign = pos < source_.size() ? source_[pos] : '\0';
    const bool has_sign = sign == '-' || sign == '+';
    const std::size_t mark = pos + (has_sign ? 1 : 0);
    if (mark + 1 >= source_.size() || source_[mark] != kind || source_[mark + 1] != '}') {
      return std::nullopt;
    }
    const std::size_t end = mark + 2;
    if (sign == '-') {
      return spaces_from(end);
    }
    const bool takes_line_feed = !has_sign && kind != '}';
    return takes_line_feed && end < source_.size() && source_[end] == '\n' ? end + 1 : end;
  }

  Result<void> read_comment() {
    for (std::size_t pos = pos_; pos < source_.size(); ++pos) {
      if (const auto end = end_of_tag(pos, '#')) {
        skip(*end - pos_);
        return {};
      }
    }
    return fail("a comment has no end");
  }

  Result<void> read_raw() {
    for (std::size_t begin = source_.find("{%", pos_); begin != std::string::npos;
         begin = source_.find("{%", begin + 1)) {
      std::size_t pos = begin + 2;
      const char sign = pos < source_.size() ? source_[pos] : '\0';
      pos = spaces_from(pos + (sign == '-' || sign == '+' ? 1 : 0));
      if (!std::string_view(source_).substr(pos).starts_with("endraw")) {
        continue;
      }
      const auto end = end_of_tag(spaces_from(pos + 6), '%');
      if (!end) {
        continue;
      }
      const std::string_view text = std::string_view(source_).substr(pos_, begin - pos_);
      add_data(strip_before_tag(text, sign, false), begin - pos_);
      skip(*end - begin);
      return {};
    }
    return fail("a raw block has no end");
  }

  // The tokens of one tag, its end included.
  Result<void> read_expression(bool is_variable) {
    std::string open;  // brackets that wait for their partners
    while (pos_ < source_.size()) {
      // A variable's end takes no "+".
      const bool may_end = open.empty() && !(is_variable && at(0) == '+');
      const auto end = may_end ? end_of_tag(pos_, is_variable ? '}' : '%') : std::nullopt;
      if (end) {
        add(is_variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, "");
        skip(*end - pos_);
        return {};
      }
      if (is_space(code_point_at(source_, pos_).value)) {
        skip_spaces();
        continue;
      }
      RETURN_IF_ERROR(read_token(open));
    }
    return fail(is_variable ? "'{{' has no '}}'" : "'{%' has no '%}'");
  }

  Result<void> read_token(std::string& open) {
    if (is_digit_byte(at(0))) {
      return read_number();
    }
    if (at(0) == '\'' || at(0) == '"') {
      return read_string();
    }
    if (const std::size_t size = name_size(); size > 0) {
      add(TokenKind::kName, std::string(rest().substr(0, size)));
      skip(size);
      return {};
    }
    for (const std::string_view sign : kOperators) {
      if (rest().starts_with(sign)) {
        RETURN_IF_ERROR(match_bracket(sign, open));
        add(TokenKind::kOperator, std::string(sign));
        skip(sign.size());
        return {};
      }
    }
    const std::size_t size = code_point_at(source_, pos_).num_bytes;
    return fail("unexpected character '" + std::string(rest().substr(0, size)) + "'");
  }

  Result<void> match_bracket(std::string_view sign, std::string& open) const {
    constexpr std::string_view kOpen = "([{";
    constexpr std::string_view kClose = ")]}";
    if (sign.size() != 1) {
      return {};
    }
    if (const std::size_t which = kOpen.find(sign[0]); which != std::string_view::npos) {
      open += kClose[which];
    } else if (kClose.find(sign[0]) != std::string_view::npos) {
      if (open.empty()) {
        return fail("unexpected '" + std::string(sign) + "'");
      }
      if (open.back() != sign[0]) {
        return fail("unexpected '" + std::string(sign) + "', expected '" + open.back() + "'");
      }
      open.pop_back();
    }
    return {};
  }

  std::size_t name_size() const {
    std::size_t pos = pos_;
    while (pos < source_.size()) {
      const CodePoint c = code_point_at(source_, pos);
      if (c.value != '_' && !is_alpha(c.value) && !is_numeric(c.value)) {
        break;
      }
      pos += c.num_bytes;
    }
    return pos - pos_;
  }

  Result<void> read_string() {
    std::size_t end = 1;
    while (at(end) != at(0)) {
      end += at(end) == '\\' ? 2 : 1;
      if (pos_ + end >= source_.size()) {
        return fail("a string has no end");
      }
    }
    Result<std::string> text = read_string_literal(rest().substr(1, end - 1));
    if (!text) {
      return fail(text.error().message);
    }
    add(TokenKind::kString, std::move(text).value());
    skip(end + 1);
    return {};
  }

  // How many bytes from `offset` on are digits, with "_" between them.
  std::size_t num_digits(std::size_t offset) const {
    std::size_t size = 0;
    while (is_digit_byte(at(offset + size)) ||
           (size > 0 && at(offset + size) == '_' && is_digit_byte(at(offset + size + 1)))) {
      ++size;
    }
    return size;
  }

  Result<void> read_number() {
    std::size_t size = num_digits(0);
    bool is_float = false;
    // "1.5" but not "x.1.5", where it is an item of an item.
    const bool is_item = pos_ > 0 && source_[pos_ - 1] == '.';
    if (!is_item && at(size) == '.' && is_digit_byte(at(size + 1))) {
      size += 1 + num_digits(size + 1);
      is_float = true;
    }
    const std::size_t sign = at(size + 1) == '+' || at(size + 1) == '-' ? 1 : 0;
    if (!is_item && (at(size) == 'e' || at(size) == 'E') && is_digit_byte(at(size + 1 + sign))) {
      size += 1 + sign + num_digits(size + 1 + sign);
      is_float = true;
    }
    constexpr std::string_view kBases = "xXoObB";
    if (!is_float && at(0) == '0' && size == 1 && kBases.find(at(1)) != std::string_view::npos) {
      size = std::max(name_size(), size);
    }
    const std::string_view text = rest().substr(0, size);
    Token token;
    token.kind = is_float ? TokenKind::kFloat : TokenKind::kInteger;
    token.line = line_;
    if (is_float) {
      token.real = parse_float(text).value_or(0.0);
    } else {
      bool overflowed = false;
      const std::optional<Int> value = parse_int(text, 0, overflowed);
      if (!value || overflowed) {
        return fail(
            "'" + std::string(text) + "' is " + (overflowed ? "too large a" : "no") + " number"
        );
      }
      token.integer = *value;
    }
    tokens_.push_back(std::move(token));
    skip(size);
    return {};
  }

  std::string source_;
  std::size_t pos_ = 0;
  int line_ = 1;
  bool is_line_start_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

Error template_error(int line, const std::string& message) {
  return invalid_argument("line " + std::to_string(line) + ": " + message);
}

Result<std::vector<Token>> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace rapt::jinja
