#include <gtest/gtest.h>

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

// What the rule says, word for word: join the lowest rank, leftmost, until nothing can be joined.
std::vector<TokenId> merge_plainly(const Vocabulary& vocabulary, std::string_view piece) {
  if (const TokenId whole = vocabulary.find(piece); whole != kNoToken) {
    return {whole};
  }
  std::vector<std::string> parts;
  for (const char c : piece) {
    parts.emplace_back(1, c);
  }
  while (true) {
    TokenId best = kNoToken;
    std::size_t best_at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const TokenId joined = vocabulary.find(parts[i] + parts[i + 1]);
      if (joined != kNoToken && (best == kNoToken || joined < best)) {
        best = joined;
        best_at = i;
      }
    }
    if (best == kNoToken) {
      break;
    }
    parts[best_at] += parts[best_at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
  std::vector<TokenId> ids;
  for (const std::string& part : parts) {
    ids.push_back(vocabulary.find(part));
  }
  return ids;
}

TEST(BytePairMerger, AgreesWithThePlainRule) {
  CaseRandom random(3);
  const auto draw = [&](std::uint64_t max_size) {
    std::string text(1 + random.below(max_size), 'a');
    for (char& c : text) {
      c = static_cast<char>('a' + random.below(3));
    }
    return text;
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 20; ++i) {
      words.push_back(draw(5));
    }
    const BytePairMerger merger(vocabulary_of(words));
    for (int i = 0; i < 20; ++i) {
      const std::string piece = draw(40);
      ASSERT_EQ(merge(merger, piece), merge_plainly(merger.vocabulary(), piece)) << piece;
    }
  }
}

}  // namespace
}  // namespace rapt
