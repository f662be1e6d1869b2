#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <string>

#include "text/text_cases_internal.h"

namespace rapt {
namespace {

std::string decode(const std::vector<TokenId>& ids) {
  std::string bytes;
  for (const TokenId id : ids) {
    bytes += test_tokenizer().token_bytes(id);
  }
  return bytes;
}

TEST(O200kHarmony, GivesTheReferenceIdsOfNamedTexts) {
  const auto cases = read_case_lines("tokenizer/o200k_named.jsonl");
  ASSERT_GE(cases.size(), 20U);
  for (const json::value& item : cases) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ(test_tokenizer().encode(text), ids_from_json(item.at("ids"))) << text;
  }
}

TEST(O200kHarmony, GivesTheReferenceIdsOfRandomTexts) {
  const json::value file = read_case_file("tokenizer/o200k_random.json");
  const json::object& vectors = file.as_object();
  const std::int64_t strings_per_chunk = vectors.at("strings_per_chunk").as_int64();
  std::uint64_t seed = 0;
  for (const json::value& expected : vectors.at("hashes").as_array()) {
    CaseRandom random(seed);
    IdHash hash;
    for (std::int64_t i = 0; i < strings_per_chunk; ++i) {
      const std::string text = random_string(random, vectors);
      const std::vector<TokenId> ids = test_tokenizer().encode(text);
      ASSERT_EQ(decode(ids), text);
      hash.add(ids);
    }
    EXPECT_EQ(hash.hex(), expected.as_string())
        << "tools/make_text_vectors.py --show " << seed << " prints this chunk's strings and ids";
    ++seed;
  }
}

// A channel's name may be two tokens: no code may compare single ids.
TEST(O200kHarmony, KnowsTheWordsOfHarmonyHeaders) {
  const std::pair<const char*, std::vector<TokenId>> words[] = {
      {"assistant", {173781}},
      {"user", {1428}},
      {"system", {17360}},
      {"developer", {77944}},
      {"analysis", {35644}},
      {"commentary", {12606, 815}},
      {"final", {17196}},
      {" to=", {316, 28}},
      {"json", {4108}},
      {" json", {5701}},
      {" code", {3490}},
      {"code", {3056}},
  };
  for (const auto& [word, ids] : words) {
    EXPECT_EQ(test_tokenizer().encode(word), ids) << word;
  }
}

TEST(O200kHarmony, NeverMakesSpecialTokensFromText) {
  const std::vector<TokenId> as_text = {27, 91, 5236, 91, 29};
  EXPECT_EQ(test_tokenizer().encode("<|start|>"), as_text);
  for (TokenId id = 199'998; id < test_tokenizer().vocab_size(); ++id) {
    for (const TokenId made : test_tokenizer().encode(test_tokenizer().token_bytes(id))) {
      ASSERT_LT(made, 199'998);
    }
  }
}

TEST(O200kHarmony, ReadsSpecialTokensWhenAsked) {
  const std::vector<TokenId> expected = {200006, 1428, 200008, 13225, 200007, 27, 91, 5236};
  EXPECT_EQ(
      test_tokenizer().encode_with_special("<|start|>user<|message|>Hello<|end|><|start"), expected
  );
  EXPECT_EQ(test_tokenizer().encode_with_special("<|endofprompt|>").size(), 1U);
}

TEST(O200kHarmony, NamesItsSpecialTokens) {
  const Tokenizer& tokenizer = test_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 201'088);
  EXPECT_EQ(tokenizer.special_id("<|call|>"), 200012);
  EXPECT_EQ(tokenizer.special_id("<|call"), std::nullopt);
  EXPECT_EQ(tokenizer.special_id("hello"), std::nullopt);
  EXPECT_EQ(tokenizer.token_bytes(200018), "<|endofprompt|>");
  EXPECT_EQ(tokenizer.token_bytes(200001), "<|reserved_200001|>");
  EXPECT_EQ(tokenizer.token_bytes(201087), "<|reserved_201087|>");
  EXPECT_EQ(tokenizer.token_bytes(201088), "");
  EXPECT_EQ(tokenizer.token_bytes(-1), "");
  EXPECT_TRUE(tokenizer.is_special(199998));
  EXPECT_TRUE(tokenizer.is_special(201087));
  EXPECT_FALSE(tokenizer.is_special(199997));
  EXPECT_FALSE(tokenizer.is_special(201088));
}

TEST(O200kHarmony, RepairsInvalidUtf8First) {
  EXPECT_EQ(test_tokenizer().encode("a\xFF\xE6\x97 b"), test_tokenizer().encode("a\uFFFD\uFFFD b"));
}

// Runs on which a quadratic merge or a regular expression's stack would give up.
TEST(O200kHarmony, SurvivesMillionCharacterRuns) {
  constexpr std::size_t kRun = 1'000'000;
  const auto run = [](std::string_view unit) {
    std::string text;
    for (std::size_t i = 0; i < kRun; ++i) {
      text += unit;
    }
    return test_tokenizer().encode(text);
  };
  EXPECT_EQ(run("x").size(), 125'000U);
  EXPECT_EQ(run(" ").size(), 7'813U);
  EXPECT_EQ(run("1").size(), 333'334U);
  EXPECT_EQ(run("日").size(), 500'000U);
  EXPECT_EQ(run("\n").size(), 62'500U);
  EXPECT_EQ(run("!").size(), 62'500U);
  EXPECT_EQ(run("\u0301").size(), 1'000'000U);
  EXPECT_EQ(run("\u0E33").size(), 1'000'000U);
}

}  // namespace
}  // namespace rapt
