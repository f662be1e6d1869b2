#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "request/request.h"
#include "text/merge_list_internal.h"
#include "text/vocabulary_internal.h"

namespace rapt {

// Joins the bytes of one piece of text into tokens: again and again the adjacent pair of lowest
// rank, the leftmost of equals, until no pair may be joined. n log n in the length of a long piece.
// Immutable; the scratch space belongs to the caller.
//
// A vocabulary may lack single bytes (those of which no text is made that it was learned from). A
// byte that is no token is left out, and its neighbours are joined as if it had not been there: so
// does Hugging Face's library.
class BytePairMerger {
 public:
  using Merge = MergeList::Merge;

  // Rank files: a pair may be joined when its bytes are a token, and that token's id is the rank.
  explicit BytePairMerger(Vocabulary vocabulary);
  // tokenizer.json: the pairs that may be joined, best first. `whole_piece_first` (ignore_merges)
  // takes a piece that is a token as it is.
  BytePairMerger(Vocabulary vocabulary, const std::vector<Merge>& merges, bool whole_piece_first);

  const Vocabulary& vocabulary() const { return vocabulary_; }

  struct Part {
    std::uint32_t next = 0;  // position of the part to the right
    std::uint32_t prev = 0;
    TokenId id = kNoToken;   // kNoToken: swallowed by its left neighbour
    std::uint32_t rank = 0;  // of joining it with its right neighbour; kNoRank: never
  };

  // Reused from piece to piece, so that a call allocates only for its longest piece.
  struct Scratch {
    std::vector<Part> parts;
    std::vector<std::uint64_t> heap;  // rank in the upper half, the left part's position below
    std::string known;                // a piece without the bytes that are no tokens
  };

  void append_tokens(std::string_view piece, Scratch& scratch, std::vector<TokenId>& out) const;

 private:
  static constexpr std::uint32_t kNoRank = MergeList::kNoRank;

  void index_bytes();
  void index_byte_pairs();
  std::uint32_t rank_of(std::string_view joined_bytes, TokenId left, TokenId right) const;
  TokenId joined_by(std::uint32_t rank) const;
  bool has_unknown_byte(std::string_view piece) const;
  void join_bytes(std::string_view piece, Scratch& scratch, std::vector<TokenId>& out) const;
  void append_short(std::string_view piece, std::vector<TokenId>& out) const;
  void append_long(std::string_view piece, Scratch& scratch, std::vector<TokenId>& out) const;

  Vocabulary vocabulary_;
  std::vector<TokenId> byte_ids_;               // [256], kNoToken where a byte is no token
  std::vector<std::uint32_t> byte_pair_ranks_;  // [256 * 256]: of two bytes that stand alone
  std::optional<MergeList> merges_;             // absent for rank files
  bool whole_piece_first_ = true;
  bool knows_all_bytes_ = true;
};

}  // namespace rapt
