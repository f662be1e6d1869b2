#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct pcre2_real_code_8;
struct pcre2_real_jit_stack_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace rapt {

// Cuts text into the pieces inside which byte pairs are joined: each match of a tokenizer's split
// pattern is a piece, and so is each gap between matches. Immutable, serves all threads; each
// reading of a text has its own PieceReader.
class Pretokenizer {
 public:
  // `pattern` is a regular expression as tokenizer.json writes it.
  static Result<Pretokenizer> compile(std::string_view pattern);

 private:
  friend class PieceReader;

  struct CodeDeleter {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::unique_ptr<pcre2_real_code_8, CodeDeleter> code_;
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

  Match find_match();

  const Pretokenizer& pretokenizer_;
  std::string_view text_;
  std::size_t pos_ = 0;
  std::optional<Match> pending_;  // found behind a gap that was given out first
  std::unique_ptr<pcre2_real_match_data_8, MatchDataDeleter> data_;
  std::unique_ptr<pcre2_real_match_context_8, MatchContextDeleter> context_;
  std::unique_ptr<pcre2_real_jit_stack_8, JitStackDeleter> jit_stack_;
};

}  // namespace rapt
