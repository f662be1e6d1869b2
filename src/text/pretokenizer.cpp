#include <pcre2.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "text/pretokenizer_internal.h"

namespace rapt {

namespace {

// Unicode's White_Space, as the inside of a character class.
constexpr std::string_view kBlanks =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

constexpr std::size_t kJitStackStart = 32UL << 10;
constexpr std::size_t kJitStackMax = 1UL << 20;

std::string pcre2_message(int status) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(status, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

Result<std::string> spell_out_blanks(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      in_class = in_class ? c != ']' : c == '[';
      out += c;
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += in_class ? std::string(kBlanks) : "[" + std::string(kBlanks) + "]";
    } else if (escaped == 'S' && !in_class) {
      out += "[^" + std::string(kBlanks) + "]";
    } else if (escaped == 'S') {
      return bad_file(
          "the split pattern '" + std::string(pattern) +
          "' has \\S inside a character class, which is not supported"
      );
    } else {
      out += c;
      out += escaped;
    }
  }
  return out;
}

void Pretokenizer::CodeDeleter::operator()(pcre2_code* code) const {
  pcre2_code_free(code);
}

void PieceReader::MatchDataDeleter::operator()(pcre2_match_data* data) const {
  pcre2_match_data_free(data);
}

void PieceReader::MatchContextDeleter::operator()(pcre2_match_context* context) const {
  pcre2_match_context_free(context);
}

void PieceReader::JitStackDeleter::operator()(pcre2_jit_stack* stack) const {
  pcre2_jit_stack_free(stack);
}

Result<Pretokenizer> Pretokenizer::compile(std::string_view pattern) {
  ASSIGN_OR_RETURN(const std::string spelled_out, spell_out_blanks(pattern));
  int status = 0;
  std::size_t offset = 0;
  Pretokenizer pretokenizer;
  pretokenizer.code_.reset(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(spelled_out.data()),
      spelled_out.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C,
      &status,
      &offset,
      nullptr
  ));
  if (!pretokenizer.code_) {
    return bad_file(
        "the split pattern '" + std::string(pattern) +
        "' is no regular expression: " + pcre2_message(status)
    );
  }
  // Without JIT (a system that forbids executable memory) matching is slower, not different.
  pretokenizer.has_jit_ = pcre2_jit_compile(pretokenizer.code_.get(), PCRE2_JIT_COMPLETE) == 0;
  return pretokenizer;
}

PieceReader::PieceReader(const Pretokenizer& pretokenizer, std::string_view text)
    : pretokenizer_(pretokenizer),
      text_(text),
      data_(pcre2_match_data_create(1, nullptr)),
      context_(pcre2_match_context_create(nullptr)) {
  CHECK(data_ && context_, "no memory for a regular expression's match data");
  if (pretokenizer_.has_jit_) {
    jit_stack_.reset(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr));
    pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
  }
}

PieceReader::Match PieceReader::find_match() const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  constexpr std::uint32_t kOptions = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  const int status = pcre2_match(
      pretokenizer_.code_.get(), subject, text_.size(), pos_, kOptions, data_.get(), context_.get()
  );
  if (status < 0) {
    return {text_.size(), text_.size()};
  }
  const std::size_t* bounds = pcre2_get_ovector_pointer(data_.get());
  return {bounds[0], bounds[1]};
}

std::optional<std::string_view> PieceReader::next() {
  if (pos_ >= text_.size()) {
    return std::nullopt;
  }
  const Match match = pending_ ? *std::exchange(pending_, std::nullopt) : find_match();
  const std::size_t begin = pos_;
  if (match.begin > begin) {
    pending_ = match;
    pos_ = match.begin;
  } else {
    pos_ = match.end;
  }
  return text_.substr(begin, pos_ - begin);
}

}  // namespace rapt
