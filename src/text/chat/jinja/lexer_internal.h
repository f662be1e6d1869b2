#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat/jinja/numbers_internal.h"

namespace rapt::jinja {

enum class TokenKind {
  kData,           // text between tags; `text` is it
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,  // `text` is its sign
  kEnd,       // of the template
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text = {};
  Int integer = 0;
  double real = 0.0;

  bool is_operator(std::string_view sign) const {
    return kind == TokenKind::kOperator && text == sign;
  }

  bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

// Cuts a template into tokens, white space control and raw blocks dealt with, comments gone; the
// last token is kEnd. `source` is valid UTF-8. Errors begin with "line N: ".
Result<std::vector<Token>> tokenize(std::string_view source);

Error template_error(int line, const std::string& message);

}  // namespace rapt::jinja
