#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct pcre2_real_code_8;
struct pcre2_real_jit_stack_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace rapt {

// Cuts text into the pieces inside which byte pairs are joined: each match of a tokenizer's split
// pattern is a piece, and so is each gap between matches. Of several patterns each cuts what the
// one before it left, and sees nothing beyond its ends. Immutable, serves all threads; each reading
// of a text has its own PieceReader.
class Pretokenizer {
 public:
  // Regular expressions as tokenizer.json writes them, at least one.
  static Result<Pretokenizer> compile(std::span<const std::string_view> patterns);
  static Result<Pretokenizer> compile(std::string_view pattern);

 private:
  friend class PieceReader;

  struct CodeDeleter {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::vector<std::unique_ptr<pcre2_real_code_8, CodeDeleter>> codes_;  // one a pattern
};

// Reads one text piece by piece. `pretokenizer` and `text` (valid UTF-8) must outlive it.
class PieceReader {
 public:
  PieceReader(const Pretokenizer& pretokenizer, std::string_view text);

  // The next piece, never empty; nothing at the end. Pieces joined are the text. Should the
  // matcher run into its limits (only a pathological pattern can), the rest is one piece.
  std::optional<std::string_view> next();

 private:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  struct MatchDataDeleter {
    void operator()(pcre2_real_match_data_8* data) const;
  };

  struct MatchContextDeleter {
    void operator()(pcre2_real_match_context_8* context) const;
  };

  struct JitStackDeleter {
    void operator()(pcre2_real_jit_stack_8* stack) const;
  };

  // What one pattern is cutting: a piece of the pattern before it, or the text.
  struct Cut {
    std::string_view text;
    std::size_t pos = 0;
    std::optional<Match> pending = {};  // found behind a gap that was given out first
  };

  Match find_match(std::size_t level);
  std::optional<std::string_view> next_at(std::size_t level);

  const Pretokenizer& pretokenizer_;
  std::vector<Cut> cuts_;  // one a pattern
  std::unique_ptr<pcre2_real_match_data_8, MatchDataDeleter> data_;
  std::unique_ptr<pcre2_real_match_context_8, MatchContextDeleter> context_;
  std::unique_ptr<pcre2_real_jit_stack_8, JitStackDeleter> jit_stack_;
};

}  // namespace rapt
