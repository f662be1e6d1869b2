#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "text/byte_pair_internal.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

// The 256 bytes, then `words`.
Vocabulary vocabulary_of(const std::vector<std::string>& words) {
  std::string arena;
  std::vector<std::uint32_t> lengths(256, 1);
  for (int byte = 0; byte < 256; ++byte) {
    arena += static_cast<char>(byte);
  }
  for (const std::string& word : words) {
    arena += word;
    lengths.push_back(static_cast<std::uint32_t>(word.size()));
  }
  return Vocabulary(std::move(arena), lengths);
}

std::vector<TokenId> merge(const BytePairMerger& merger, std::string_view piece) {
  BytePairMerger::Scratch scratch;
  std::vector<TokenId> ids;
  merger.append_tokens(piece, scratch, ids);
  return ids;
}

TEST(Vocabulary, FindsTokensByBytesAndById) {
  const Vocabulary vocabulary = vocabulary_of({"ab", "abcdefghij", "ab", ""});
  EXPECT_EQ(vocabulary.size(), 260);
  EXPECT_EQ(vocabulary.find("ab"), 256) << "the lowest of equal tokens";
  EXPECT_EQ(vocabulary.find("abcdefghij"), 257);
  EXPECT_EQ(vocabulary.find("abcdefghi"), kNoToken);
  EXPECT_EQ(vocabulary.find(""), kNoToken);
  EXPECT_EQ(vocabulary.find(std::string(1000, 'a')), kNoToken);
  EXPECT_EQ(vocabulary.bytes(257), "abcdefghij");
  EXPECT_EQ(vocabulary.bytes(259), "");
  EXPECT_EQ(vocabulary.bytes(260), "");
  EXPECT_EQ(vocabulary.bytes(-1), "");
}

TEST(BytePairMerger, JoinsTheLowestRankFirst) {
  // "bc" comes before "ab", so "abc" is a + bc although "ab" begins further left.
  const BytePairMerger merger(vocabulary_of({"bc", "ab"}));
  EXPECT_EQ(merge(merger, "abc"), (std::vector<TokenId>{'a', 256}));
  EXPECT_EQ(merge(merger, "abab"), (std::vector<TokenId>{257, 257}));
}

TEST(BytePairMerger, JoinsTheLeftmostOfEquals) {
  const BytePairMerger merger(vocabulary_of({"aa"}));
  EXPECT_EQ(merge(merger, "aaa"), (std::vector<TokenId>{256, 'a'}));
}

TEST(BytePairMerger, TakesAWholePieceAsItIs) {
  // Nothing joins to "xyz" step by step, but it is a token.
  const BytePairMerger merger(vocabulary_of({"xyz"}));
  EXPECT_EQ(merge(merger, "xyz"), std::vector<TokenId>{256});
  EXPECT_EQ(merge(merger, "xyzx"), (std::vector<TokenId>{'x', 'y', 'z', 'x'}));
}

TEST(BytePairMerger, FollowsAMergeList) {
  const Vocabulary vocabulary = vocabulary_of({"ab", "bc", "abc"});
  const std::vector<BytePairMerger::Merge> merges = {{'b', 'c', 257}, {'a', 257, 258}};
  const BytePairMerger stepwise(vocabulary, merges, false);
  EXPECT_EQ(merge(stepwise, "abc"), std::vector<TokenId>{258});
  EXPECT_EQ(merge(stepwise, "ab"), (std::vector<TokenId>{'a', 'b'})) << "no merge makes it";
  const BytePairMerger whole_first(vocabulary, merges, true);
  EXPECT_EQ(merge(whole_first, "ab"), std::vector<TokenId>{256});
}

TEST(BytePairMerger, LeavesOutBytesThatAreNoTokens) {
  // "a", "b", "ab", "?b" and the doubles of "ab".
  std::string arena = "abab?b";
  std::vector<std::uint32_t> lengths = {1, 1, 2, 2};
  for (const std::size_t size : {4U, 8U, 16U, 32U}) {
    for (std::size_t i = 0; i < size; i += 2) {
      arena += "ab";
    }
    lengths.push_back(static_cast<std::uint32_t>(size));
  }
  const Vocabulary vocabulary(arena, lengths);
  const std::vector<BytePairMerger::Merge> merges = {
      {0, 1, 2}, {2, 2, 4}, {4, 4, 5}, {5, 5, 6}, {6, 6, 7}};
  const BytePairMerger merger(vocabulary, merges, false);
  EXPECT_EQ(merge(merger, "?"), std::vector<TokenId>{});
  EXPECT_EQ(merge(merger, "??"), std::vector<TokenId>{});
  EXPECT_EQ(merge(merger, "?a?"), std::vector<TokenId>{0});
  EXPECT_EQ(merge(merger, "a?b"), std::vector<TokenId>{2}) << "neighbours are joined over it";
  EXPECT_EQ(merge(merger, "?b"), std::vector<TokenId>{1});
  std::string long_piece;
  for (int i = 0; i < 32; ++i) {
    long_piece += "a?b";
  }
  EXPECT_EQ(merge(merger, long_piece), (std::vector<TokenId>{7, 7}));
  const BytePairMerger whole_first(vocabulary, merges, true);
  EXPECT_EQ(merge(whole_first, "?b"), std::vector<TokenId>{3}) << "a token with its own bytes";
  EXPECT_EQ(merge(whole_first, "?"), std::vector<TokenId>{});
}

using Parts = std::vector<std::string>;
// The rank of joining two parts, and none if they may not be joined.
using RankOf = std::function<std::optional<std::size_t>(const std::string&, const std::string&)>;

// What the rule says, word for word: join the lowest rank, leftmost, until nothing can be joined.
Parts join_plainly(std::string_view piece, const RankOf& rank_of) {
  Parts parts;
  for (const char c : piece) {
    parts.emplace_back(1, c);
  }
  while (true) {
    std::optional<std::size_t> best;
    std::size_t best_at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto rank = rank_of(parts[i], parts[i + 1]);
      if (rank && (!best || *rank < *best)) {
        best = rank;
        best_at = i;
      }
    }
    if (!best) {
      return parts;
    }
    parts[best_at] += parts[best_at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

std::vector<TokenId> ids_of(const Vocabulary& vocabulary, const Parts& parts) {
  std::vector<TokenId> ids;
  for (const std::string& part : parts) {
    ids.push_back(vocabulary.find(part));
  }
  return ids;
}

std::string draw_text(CaseRandom& random, std::uint64_t max_size) {
  std::string text(1 + random.below(max_size), 'a');
  for (char& c : text) {
    c = static_cast<char>('a' + random.below(3));
  }
  return text;
}

// Longer than what is joined without a heap.
constexpr std::uint64_t kMaxPiece = 120;

TEST(BytePairMerger, AgreesWithThePlainRuleForRanks) {
  CaseRandom random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 20; ++i) {
      words.push_back(draw_text(random, 5));
    }
    const BytePairMerger merger(vocabulary_of(words));
    const Vocabulary& vocabulary = merger.vocabulary();
    const RankOf rank_of = [&](const std::string& left, const std::string& right) {
      const TokenId joined = vocabulary.find(left + right);
      return joined == kNoToken ? std::nullopt
                                : std::optional<std::size_t>(static_cast<std::size_t>(joined));
    };
    for (int i = 0; i < 20; ++i) {
      const std::string piece = draw_text(random, kMaxPiece);
      const TokenId whole = vocabulary.find(piece);
      const auto expected = whole != kNoToken ? std::vector<TokenId>{whole}
                                              : ids_of(vocabulary, join_plainly(piece, rank_of));
      ASSERT_EQ(merge(merger, piece), expected) << piece;
    }
  }
}

TEST(BytePairMerger, AgreesWithThePlainRuleForMergeLists) {
  CaseRandom random(4);
  for (int round = 0; round < 100; ++round) {
    std::set<std::string> words;
    std::vector<Parts> pairs;
    std::vector<std::string> known = {"a", "b", "c"};
    for (int i = 0; i < 20; ++i) {
      const std::string left = known[random.below(known.size())];
      const std::string right = known[random.below(known.size())];
      const Parts pair = {left, right};
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) {
        pairs.push_back(pair);
        words.insert(left + right);
        known.push_back(left + right);
      }
    }
    const Vocabulary vocabulary = vocabulary_of({words.begin(), words.end()});
    std::vector<BytePairMerger::Merge> merges;
    for (const Parts& pair : pairs) {
      merges.push_back(
          {vocabulary.find(pair[0]), vocabulary.find(pair[1]), vocabulary.find(pair[0] + pair[1])}
      );
    }
    const BytePairMerger merger(vocabulary, merges, false);
    const RankOf rank_of = [&](const std::string& left, const std::string& right) {
      const auto found = std::find(pairs.begin(), pairs.end(), Parts{left, right});
      return found == pairs.end()
                 ? std::nullopt
                 : std::optional<std::size_t>(static_cast<std::size_t>(found - pairs.begin()));
    };
    for (int i = 0; i < 20; ++i) {
      const std::string piece = draw_text(random, kMaxPiece);
      ASSERT_EQ(merge(merger, piece), ids_of(vocabulary, join_plainly(piece, rank_of))) << piece;
    }
  }
}

}  // namespace
}  // namespace rapt
