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
  return compile(std::span(&pattern, 1));
}

Result<Pretokenizer> Pretokenizer::compile(std::span<const std::string_view> patterns) {
  CHECK(!patterns.empty(), "a split without a pattern");
  Pretokenizer pretokenizer;
  for (const std::string_view pattern : patterns) {
    ASSIGN_OR_RETURN(const std::string translated, to_pcre2_pattern(pattern));
    int status = 0;
    std::size_t offset = 0;
    pretokenizer.codes_.emplace_back(pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(translated.data()),
        translated.size(),
        PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C,
        &status,
        &offset,
        nullptr
    ));
    pcre2_code* code = pretokenizer.codes_.back().get();
    if (code == nullptr) {
      return bad_file(
          "the split pattern '" + std::string(pattern) +
          "' is no regular expression: " + pcre2_message(status)
      );
    }
    // Without JIT (a system that forbids executable memory) matching is slower, not different.
    static_cast<void>(pcre2_jit_compile(code, PCRE2_JIT_COMPLETE));
  }
  return pretokenizer;
}

PieceReader::PieceReader(const Pretokenizer& pretokenizer, std::string_view text)
    : pretokenizer_(pretokenizer),
      cuts_(pretokenizer.codes_.size()),
      data_(pcre2_match_data_create(1, nullptr)) {
  CHECK(data_ != nullptr, "no memory for a regular expression's match data");
  cuts_.front().text = text;
}

PieceReader::Match PieceReader::find_match(std::size_t level) {
  const Cut& cut = cuts_[level];
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(cut.text.data());
  constexpr std::uint32_t kOptions = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  const auto match = [&] {
    return pcre2_match(
        pretokenizer_.codes_[level].get(),
        subject,
        cut.text.size(),
        cut.pos,
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
    return {cut.text.size(), cut.text.size()};
  }
  const std::size_t* bounds = pcre2_get_ovector_pointer(data_.get());
  return {bounds[0], bounds[1]};
}

std::optional<std::string_view> PieceReader::next_at(std::size_t level) {
  Cut& cut = cuts_[level];
  if (cut.pos >= cut.text.size()) {
    return std::nullopt;
  }
  const Match match = cut.pending ? *std::exchange(cut.pending, std::nullopt) : find_match(level);
  const std::size_t begin = cut.pos;
  if (match.begin > begin) {
    cut.pending = match;
    cut.pos = match.begin;
  } else {
    cut.pos = match.end;
  }
  return cut.text.substr(begin, cut.pos - begin);
}

std::optional<std::string_view> PieceReader::next() {
  std::size_t level = cuts_.size() - 1;
  while (true) {
    const auto piece = next_at(level);
    if (piece && level + 1 == cuts_.size()) {
      return piece;
    }
    if (piece) {
      cuts_[++level] = Cut{.text = *piece};
    } else if (level == 0) {
      return std::nullopt;
    } else {
      --level;
    }
  }
}

}  // namespace rapt
