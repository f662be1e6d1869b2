#include <pcre2.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "text/pretokenizer_internal.h"
#include "text/split_pattern_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kJitStackStart = 64UL << 10;
constexpr std::size_t kJitStackMax = 1UL << 20;

std::string pcre2_message(int status) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(status, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

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
  ASSIGN_OR_RETURN(const std::string translated, to_pcre2_pattern(pattern));
  int status = 0;
  std::size_t offset = 0;
  Pretokenizer pretokenizer;
  pretokenizer.code_.reset(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated.data()),
      translated.size(),
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
  static_cast<void>(pcre2_jit_compile(pretokenizer.code_.get(), PCRE2_JIT_COMPLETE));
  return pretokenizer;
}

PieceReader::PieceReader(const Pretokenizer& pretokenizer, std::string_view text)
    : pretokenizer_(pretokenizer), text_(text), data_(pcre2_match_data_create(1, nullptr)) {
  CHECK(data_ != nullptr, "no memory for a regular expression's match data");
}

PieceReader::Match PieceReader::find_match() {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  constexpr std::uint32_t kOptions = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  const auto match = [&] {
    return pcre2_match(
        pretokenizer_.code_.get(),
        subject,
        text_.size(),
        pos_,
        kOptions,
        data_.get(),
        context_.get()
    );
  };
  int status = match();
  if (status == PCRE2_ERROR_JIT_STACKLIMIT && !jit_stack_) {
    // The 32 KiB that compiled patterns use of the machine's own stack were not enough. Known
    // tokenizers' patterns never get here, so nobody pays for a stack in advance.
    jit_stack_.reset(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr));
    context_.reset(pcre2_match_context_create(nullptr));
    if (jit_stack_ && context_) {
      pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
      status = match();
    }
  }
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
