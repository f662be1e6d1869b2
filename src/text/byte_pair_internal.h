#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "request/request.h"
#include "text/vocabulary_internal.h"

namespace rapt {

// Joins the bytes of one piece of text into tokens: again and again the adjacent pair of lowest
// rank, the leftmost of equals, until no pair may be joined. n log n in the piece's length.
// Immutable; the scratch space belongs to the caller.
class BytePairMerger {
 public:
  struct Merge {
    TokenId left = 0;
    TokenId right = 0;
    TokenId joined = 0;
  };

  // Rank files: a pair may be joined when its bytes are a token, and that token's id is the rank.
  // All 256 single bytes must be tokens.
  explicit BytePairMerger(Vocabulary vocabulary);
  // tokenizer.json: the pairs that may be joined, best first. `whole_piece_first` (ignore_merges)
  // takes a piece that is a token as it is.
  BytePairMerger(Vocabulary vocabulary, const std::vector<Merge>& merges, bool whole_piece_first);

  const Vocabulary& vocabulary() const { return vocabulary_; }

  struct Candidate {
    std::uint32_t rank = 0;
    std::uint32_t left = 0;       // the left part's number, which is its first byte's position
    std::uint32_t num_bytes = 0;  // of both parts: no longer true once one of them was joined
    TokenId joined = 0;
  };

  struct Part {
    std::uint32_t next = 0;  // position of the part to the right
    std::uint32_t prev = 0;
    TokenId id = kNoToken;  // kNoToken: swallowed by its left neighbour
  };

  // Reused from piece to piece, so that a call allocates only for its longest piece.
  struct Scratch {
    std::vector<Part> parts;
    std::vector<Candidate> heap;
  };

  void append_tokens(std::string_view piece, Scratch& scratch, std::vector<TokenId>& out) const;

 private:
  struct PairSlot {
    std::uint64_t key = 0;
    std::uint32_t rank = 0;
    TokenId joined = kNoToken;
  };

  void index_bytes();
  std::optional<Candidate> find_merge(
      std::string_view piece, const std::vector<Part>& parts, std::uint32_t left
  ) const;

  Vocabulary vocabulary_;
  std::vector<TokenId> byte_ids_;     // [256]
  std::vector<PairSlot> pair_slots_;  // empty for rank files
  bool whole_piece_first_ = true;
};

}  // namespace rapt
