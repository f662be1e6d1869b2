#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/merge_list_internal.h"
#include "text/vocabulary_internal.h"

namespace rapt {

// Joins the characters of a text into tokens as SentencePiece's BPE does: again and again the
// adjacent pair that ranks best, the leftmost of equals, until no pair may be joined. n log n in
// the length of the text. Immutable; the scratch space belongs to the caller.
//
// A character that is no token in the end is written as its bytes, where the vocabulary has a token
// for each of them; else as the token for unknown text, one for a run of them; else it is left out.
class PieceMerger {
 public:
  struct Unknown {
    std::array<TokenId, 256> byte_ids;  // kNoToken where a byte has no token
    TokenId id = kNoToken;
    bool joins_runs = true;

    Unknown() { byte_ids.fill(kNoToken); }
  };

  // SentencePiece's own rule: two parts may be joined when what they make is a piece, and that
  // piece's score, by id, ranks them: high ones first. A piece that is unused (by id; empty: none
  // is) is taken apart again in the end. Scores must be numbers.
  PieceMerger(
      Vocabulary pieces,
      const std::vector<float>& scores,
      std::vector<bool> is_unused,
      const Unknown& unknown
  );
  // tokenizer.json's: the pairs that may be joined, best first.
  PieceMerger(
      Vocabulary pieces, const std::vector<MergeList::Merge>& merges, const Unknown& unknown
  );

  const Vocabulary& pieces() const { return pieces_; }

  struct Part {
    std::uint32_t begin = 0;  // its first byte; it ends where the next one begins
    std::uint32_t next = 0;   // index of the part to the right
    std::uint32_t prev = 0;
    TokenId id = kNoToken;
    std::uint32_t rank = 0;  // of joining it with its right neighbour
  };

  // Reused from text to text.
  struct Scratch {
    std::vector<Part> parts;          // one a character, and one that only marks the end
    std::vector<std::uint64_t> heap;  // rank in the upper half, the left part's index below
    // Unused pieces that pairs made: the size of the left part of the last such pair.
    std::unordered_map<std::string_view, std::size_t> splits;
  };

  // `text` is valid UTF-8.
  void append_tokens(std::string_view text, Scratch& scratch, std::vector<TokenId>& out) const;

 private:
  static constexpr std::uint32_t kNoRank = MergeList::kNoRank;
  static constexpr std::uint32_t kSwallowed = kNoRank - 1;  // by its left neighbour

  bool is_unused(TokenId id) const {
    return !is_unused_.empty() && is_unused_[static_cast<std::size_t>(id)];
  }

  void begin_parts(std::string_view text, std::vector<Part>& parts) const;
  void update_rank(std::string_view text, std::uint32_t left, Scratch& scratch) const;
  void join_parts(std::string_view text, Scratch& scratch) const;
  void append_unused(std::string_view piece, const Scratch& scratch, std::vector<TokenId>& out)
      const;
  // Returns whether the token for unknown text was written.
  bool append_unknown(std::string_view piece, bool is_behind_unknown, std::vector<TokenId>& out)
      const;

  Vocabulary pieces_;
  std::vector<std::uint32_t> ranks_;  // by id, the same for equal scores; empty with a list
  std::vector<bool> is_unused_;       // by id
  std::optional<MergeList> merges_;
  Unknown unknown_;
};

}  // namespace rapt
