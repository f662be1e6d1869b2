#include "app/answer_printer.h"

#include <unistd.h>

#include <cstdio>

namespace rapt {

namespace {

// A model's text may hold anything; escape sequences must not reach the terminal.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
  }
  return out;
}

void write(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

AnswerPrinter::AnswerPrinter(const ChatFormat& format)
    : parser_(format.make_parser()), shows_thinking_(isatty(STDERR_FILENO) != 0) {}

void AnswerPrinter::push(TokenId token) {
  print(parser_->push(token));
}

void AnswerPrinter::finish() {
  print(parser_->finish());
  end_thinking();
  write(stdout, "\n");
}

void AnswerPrinter::end_thinking() {
  if (is_thinking_) {
    write(stderr, "\x1b[0m\n");
    is_thinking_ = false;
  }
}

void AnswerPrinter::print(const ChatDelta& delta) {
  if (!delta.reasoning.empty()) {
    reasoning_ += delta.reasoning;
    if (shows_thinking_) {
      write(stderr, (is_thinking_ ? "" : "\x1b[2m") + printable(delta.reasoning));
      is_thinking_ = true;
    }
  }
  if (!delta.content.empty()) {
    end_thinking();
    content_ += delta.content;
    write(stdout, isatty(STDOUT_FILENO) != 0 ? printable(delta.content) : delta.content);
  }
}

}  // namespace rapt
