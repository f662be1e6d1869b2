#include "text/chat/jinja/parser_internal.h"

namespace rapt::jinja {

namespace {

std::string kind_name(TokenKind kind) {
  switch (kind) {
    case TokenKind::kData:
      return "text";
    case TokenKind::kVariableBegin:
      return "'{{'";
    case TokenKind::kVariableEnd:
      return "'}}'";
    case TokenKind::kBlockBegin:
      return "'{%'";
    case TokenKind::kBlockEnd:
      return "'%}'";
    case TokenKind::kName:
      return "a name";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return "a number";
    case TokenKind::kOperator:
      return "an operator";
    case TokenKind::kEnd:
      return "the end of the template";
  }
  return "";
}

std::string shown(const Token& token) {
  const bool has_text = token.kind == TokenKind::kName || token.kind == TokenKind::kOperator;
  return has_text ? "'" + token.text + "'" : kind_name(token.kind);
}

}  // namespace

bool TokenReader::skip_name(std::string_view name) {
  const bool is_it = current().is_name(name);
  if (is_it) {
    take();
  }
  return is_it;
}

bool TokenReader::skip_operator(std::string_view sign) {
  const bool is_it = current().is_operator(sign);
  if (is_it) {
    take();
  }
  return is_it;
}

Result<void> TokenReader::expect_operator(std::string_view sign) {
  if (!skip_operator(sign)) {
    return unexpected("'" + std::string(sign) + "'");
  }
  return {};
}

Result<void> TokenReader::expect_name(std::string_view name) {
  if (!skip_name(name)) {
    return unexpected("'" + std::string(name) + "'");
  }
  return {};
}

Result<void> TokenReader::expect(TokenKind kind) {
  if (current().kind != kind) {
    return unexpected(kind_name(kind));
  }
  take();
  return {};
}

Result<std::string> TokenReader::take_name() {
  if (current().kind != TokenKind::kName) {
    return unexpected("a name");
  }
  return take().text;
}

Error TokenReader::unexpected(std::string_view expected) const {
  return fail("unexpected " + shown(current()) + ", expected " + std::string(expected));
}

NameId NameTable::id_of(const std::string& name) {
  const auto [place, is_new] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
  if (is_new) {
    names_.push_back(name);
  }
  return place->second;
}

}  // namespace rapt::jinja
