#include <utility>

#include "base/json.h"
#include "text/chat/jinja/call_reader_internal.h"

namespace rapt::jinja {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// What a JSON string says; as it is when it is none.
std::string unquoted(const std::string& text) {
  const Result<json::value> value = parse_json(text, "a string");
  return value && value->is_string() ? std::string(value->get_string()) : text;
}

}  // namespace

std::size_t CallReader::push(std::string_view text) {
  std::size_t pos = 0;
  while (pos < text.size() && !is_done()) {
    take(text[pos]);
    if (is_broken()) {
      break;
    }
    raw_ += text[pos];
    ++pos;
  }
  return pos;
}

std::string CallReader::take_arguments() {
  return std::exchange(arguments_, {});
}

void CallReader::take(char c) {
  switch (phase_) {
    case Phase::kBegin:
      if (!is_blank(c)) {
        phase_ = c == '{' ? Phase::kKeyBegin : Phase::kBroken;
      }
      return;
    case Phase::kKeyBegin:
      if (c == '"') {
        phase_ = Phase::kKey;
        key_ = "\"";
        is_escaped_ = false;
      } else if (c == '}') {
        phase_ = Phase::kDone;
      } else if (!is_blank(c) && c != ',') {
        phase_ = Phase::kBroken;
      }
      return;
    case Phase::kKey:
      key_ += c;
      if (c == '"' && !is_escaped_) {
        key_ = unquoted(key_);
        phase_ = Phase::kColon;
      }
      is_escaped_ = c == '\\' && !is_escaped_;
      return;
    case Phase::kColon:
      if (!is_blank(c)) {
        phase_ = c == ':' ? Phase::kValueBegin : Phase::kBroken;
      }
      return;
    case Phase::kValueBegin:
      if (!is_blank(c)) {
        begin_value(c);
      }
      return;
    case Phase::kValue:
      if (!take_in_value(c)) {
        end_value();
        take(c);
      }
      return;
    case Phase::kValueEnd:
      if (c == '}') {
        phase_ = Phase::kDone;
      } else if (c == ',') {
        phase_ = Phase::kKeyBegin;
      } else if (!is_blank(c)) {
        phase_ = Phase::kBroken;
      }
      return;
    case Phase::kDone:
    case Phase::kBroken:
      return;
  }
}

void CallReader::begin_value(char c) {
  phase_ = Phase::kValue;
  value_.clear();
  depth_ = 0;
  is_in_string_ = false;
  is_escaped_ = false;
  is_streamed_ = is_arguments() && !has_arguments_ && (c == '{' || c == '[');
  take_in_value(c);
}

bool CallReader::take_in_value(char c) {
  const bool is_scalar_end = depth_ == 0 && !is_in_string_ && !value_.empty() &&
                             (c == ',' || c == '}' || c == ']' || is_blank(c));
  if (is_scalar_end) {
    return false;
  }
  if (is_streamed_) {
    arguments_ += c;
  } else {
    value_ += c;
  }
  if (is_in_string_) {
    is_in_string_ = c != '"' || is_escaped_;
    is_escaped_ = c == '\\' && !is_escaped_;
  } else if (c == '"') {
    is_in_string_ = true;
    is_escaped_ = false;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
  } else {
    return true;
  }
  if (depth_ == 0 && !is_in_string_) {
    end_value();
  }
  return true;
}

void CallReader::end_value() {
  phase_ = is_bare_ ? Phase::kDone : Phase::kValueEnd;
  if (key_ == "name" && !name_ && value_.size() > 1 && value_.front() == '"') {
    name_ = unquoted(value_);
  } else if (is_arguments() && !has_arguments_) {
    has_arguments_ = true;
    if (!is_streamed_) {
      // Some models write the arguments as a string that holds JSON, or null for none.
      arguments_ += value_ == "null" ? "{}" : unquoted(value_);
    }
  }
  is_streamed_ = false;
}

}  // namespace rapt::jinja
