// Tokenizers of SentencePiece's kind, from GGUF files and from tokenizer.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "text/detokenizer.h"
#include "text/end_tokens.h"
#include "text/gguf_tokenizer.h"
#include "text/piece_merger_internal.h"
#include "text/piece_names_internal.h"
#include "text/text_cases_internal.h"
#include "text/tokenizer.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<TokenId>;

// The pieces of a case file as a GGUF file has them.
struct OwnedPieces {
  explicit OwnedPieces(const json::object& vectors) {
    for (const json::value& token : vectors.at("tokens").as_array()) {
      tokens.emplace_back(token.as_string());
    }
    for (const json::value& score : vectors.at("scores").as_array()) {
      parts.scores.push_back(score.to_number<double>());
    }
    for (const json::value& type : vectors.at("token_types").as_array()) {
      parts.token_types.push_back(type.as_int64());
    }
    parts.model = "llama";
    parts.add_space_prefix = vectors.at("add_space_prefix").as_bool();
  }

  explicit OwnedPieces(const std::string& file) : OwnedPieces(read_case_file(file).as_object()) {}

  Result<std::unique_ptr<Tokenizer>> make() {
    parts.tokens.assign(tokens.begin(), tokens.end());
    return make_gguf_tokenizer(parts, "m.gguf");
  }

  std::string error() {
    const auto made = make();
    return made ? "no error" : made.error().message;
  }

  std::vector<std::string> tokens;
  GgufTokenizerParts parts;
};

class PieceTokenizer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vectors_ = read_case_file(GetParam()).as_object();
    auto made = vectors_.contains("tokenizer")
                    ? parse_tokenizer_json(to_json_text(vectors_.at("tokenizer")), GetParam())
                    : OwnedPieces(vectors_).make();
    ASSERT_TRUE(made) << made.error().message;
    tokenizer_ = *std::move(made);
  }

  json::object vectors_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(PieceTokenizer, GivesTheIdsOfTheLibrary) {
  for (const json::value& item : vectors_.at("cases").as_array()) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ(tokenizer_->encode(text), ids_from_json(item.at("ids"))) << text;
    if (const json::value* ids = item.as_object().if_contains("ids_with_special")) {
      EXPECT_EQ(tokenizer_->encode_with_special(text), ids_from_json(*ids)) << text;
    }
  }
}

TEST_P(PieceTokenizer, GivesTheIdsOfTheLibraryForRandomTexts) {
  const bool has_special = vectors_.contains("tokenizer");
  for (const json::value& chunk : vectors_.at("chunks").as_array()) {
    CaseRandom random(static_cast<std::uint64_t>(chunk.at("seed").as_int64()));
    IdHash hash;
    for (std::int64_t i = 0; i < vectors_.at("strings_per_chunk").as_int64(); ++i) {
      const std::string text = random_string(random, vectors_);
      hash.add(tokenizer_->encode(text));
      if (has_special) {
        hash.add(tokenizer_->encode_with_special(text));
      }
    }
    EXPECT_EQ(hash.hex(), chunk.at("hash").as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(
    SentencePiece,
    PieceTokenizer,
    testing::Values(
        "tokenizer/pieces_scores.json",
        "tokenizer/pieces_no_prefix.json",
        "tokenizer/pieces_unused.json",
        "tokenizer/pieces_unknown.json",
        "tokenizer/pieces_across.json"
    )
);

INSTANTIATE_TEST_SUITE_P(
    HuggingFace,
    PieceTokenizer,
    testing::Values(
        "tokenizer/pieces_llama2.json",
        "tokenizer/pieces_first.json",
        "tokenizer/pieces_split.json",
        "tokenizer/pieces_gemma.json",
        "tokenizer/pieces_list_unknown.json"
    )
);

std::unique_ptr<Tokenizer> made(OwnedPieces& pieces) {
  auto result = pieces.make();
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

TEST(GgufPieces, StandForTextWithBlanks) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  const auto tokenizer = made(pieces);
  EXPECT_TRUE(tokenizer->adds_blank());
  for (const char* text : {"the quick  fox", " a", "日本語\n\t\u00e9 \U0001f600", "\u2581"}) {
    const std::string expected = std::string(text) == "\u2581" ? " " : text;
    const Ids ids = tokenizer->encode(text);
    EXPECT_EQ(text_of_tokens(*tokenizer, ids), expected);
    Detokenizer detokenizer(*tokenizer);
    std::string streamed;
    for (const TokenId id : ids) {
      streamed += detokenizer.push(id);
    }
    EXPECT_EQ(streamed, " " + expected) << "behind a prompt the blank is one";
  }
  EXPECT_EQ(tokenizer->token_bytes(3), std::string_view("\0", 1)) << "<0x00>";
  EXPECT_EQ(tokenizer->token_bytes(3 + 0xE6), "\xE6");
  EXPECT_EQ(tokenizer->token_bytes(tokenizer->vocab_size()), "");
  EXPECT_TRUE(tokenizer->is_special(1));
  EXPECT_FALSE(tokenizer->is_special(4));
  EXPECT_EQ(tokenizer->special_id("</s>"), 2);

  OwnedPieces without_prefix("tokenizer/pieces_no_prefix.json");
  EXPECT_FALSE(made(without_prefix)->adds_blank());
}

TEST(GgufPieces, TakeTokensForWhatTheirTypesSay) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  const auto first = static_cast<TokenId>(pieces.tokens.size());
  for (const auto& [name, type] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"<control>", 3}, {"<user>", 4}, {"\u2581\u2581\u2581", 4}}) {
    pieces.tokens.emplace_back(name);
    pieces.parts.token_types.push_back(type);
    pieces.parts.scores.push_back(0);
  }
  const auto tokenizer = made(pieces);
  EXPECT_EQ(tokenizer->encode("<user>"), Ids{first + 1});
  EXPECT_EQ(tokenizer->encode("   "), Ids{first + 2}) << "marks are blanks in a text";
  EXPECT_EQ(tokenizer->token_bytes(first + 2), "   ");
  EXPECT_GT(tokenizer->encode("<control>").size(), 1U);
  // A blank is put before each stretch of plain text.
  const Ids word = tokenizer->encode("the");
  Ids expected = word;
  expected.push_back(first);
  expected.insert(expected.end(), word.begin(), word.end());
  EXPECT_EQ(tokenizer->encode_with_special("the<control>the"), expected);
}

TEST(GgufPieces, PutBosBeforeAPromptOnce) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  const Ids word = made(pieces)->encode("the");
  Ids framed = {1};
  framed.insert(framed.end(), word.begin(), word.end());
  EXPECT_EQ(made(pieces)->encode_prompt("the"), framed) << "what files without the key mean";
  EXPECT_EQ(made(pieces)->encode_prompt("<s>the"), framed);
  EXPECT_EQ(made(pieces)->encode_prompt(""), Ids{1});
  pieces.parts.add_bos = false;
  EXPECT_EQ(made(pieces)->encode_prompt("the"), word);
  pieces.parts.add_bos = true;
  pieces.parts.add_eos = true;
  pieces.parts.eos_id = 2;
  framed.push_back(2);
  EXPECT_EQ(made(pieces)->encode_prompt("the"), framed);
  EXPECT_EQ(made(pieces)->encode_prompt("<s>the</s>"), framed);
  EXPECT_EQ(made(pieces)->encode("the"), word) << "only whole prompts have them";
  pieces.parts.bos_id = -1;
  pieces.parts.eos_id = -1;
  pieces.parts.unknown_id = -1;
  EXPECT_EQ(made(pieces)->encode_prompt("the"), word) << "the file says that there are none";
}

TEST(GgufPieces, NameTheEndsOfATurn) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  const auto first = static_cast<TokenId>(pieces.tokens.size());
  const auto add = [&](const char* name, std::int64_t type) {
    pieces.tokens.emplace_back(name);
    pieces.parts.token_types.push_back(type);
    pieces.parts.scores.push_back(0);
  };
  for (const char* name : {"<|im_end|>", "<|end|>", "<|other|>"}) {
    add(name, 3);
  }
  add("<eos>", 4);
  EXPECT_THAT(named_end_tokens(*made(pieces)), ElementsAre(first, first + 1, 2))
      << "plain text that is so called ends nothing";
  add("<|return|>", 3);
  add("<|call|>", 3);
  EXPECT_THAT(named_end_tokens(*made(pieces)), ElementsAre(first, 2));
  EXPECT_THAT(named_end_tokens(test_tokenizer()), ElementsAre(199'999));
}

TEST(GgufPieces, GoByNamesWithoutTypes) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  pieces.parts.token_types.clear();
  const auto tokenizer = made(pieces);
  EXPECT_EQ(tokenizer->encode("\x01").back(), 3 + 1);
}

TEST(GgufPieces, SayWhatIsNotAsExpected) {
  const auto error_when = [](auto&& damage) {
    OwnedPieces pieces("tokenizer/pieces_scores.json");
    damage(pieces);
    return pieces.error();
  };
  EXPECT_EQ(error_when([](OwnedPieces&) {}), "no error");
  EXPECT_EQ(
      error_when([](OwnedPieces& pieces) { pieces.parts.model = "bert"; }),
      "m.gguf: \"tokenizer.ggml.model\" is \"bert\"; only \"gpt2\", byte-level BPE, and \"llama\", "
      "SentencePiece's BPE, are supported"
  );
  EXPECT_THAT(
      error_when([](OwnedPieces& pieces) { pieces.parts.scores.pop_back(); }),
      HasSubstr("\"tokenizer.ggml.scores\" has 419 entries for 420 tokens")
  );
  EXPECT_THAT(
      error_when([](OwnedPieces& pieces) { pieces.parts.scores[7] = std::nan(""); }),
      HasSubstr("gives token 7 a score that is no number")
  );
  EXPECT_THAT(
      error_when([](OwnedPieces& pieces) { pieces.tokens[5] = "<0x0g>"; }),
      HasSubstr("token 5 is a single byte, but its name is no \"<0x41>\"")
  );
  EXPECT_THAT(
      error_when([](OwnedPieces& pieces) { pieces.tokens[1] = ""; }),
      HasSubstr("token 1 has no name")
  );
  for (const std::int64_t id : {std::int64_t{-2}, std::int64_t{420}}) {
    EXPECT_THAT(
        error_when([&](OwnedPieces& pieces) { pieces.parts.bos_id = id; }),
        HasSubstr(
            "\"tokenizer.ggml.bos_token_id\" is " + std::to_string(id) +
            "; expected the id of one of the 420 tokens"
        )
    );
    EXPECT_THAT(
        error_when([&](OwnedPieces& pieces) { pieces.parts.unknown_id = id; }),
        HasSubstr("\"tokenizer.ggml.unknown_token_id\" is " + std::to_string(id))
    );
  }
}

// Runs on which a quadratic merge would give up.
TEST(GgufPieces, SurviveMillionCharacterRuns) {
  OwnedPieces pieces("tokenizer/pieces_scores.json");
  for (std::string run = "xx"; run.size() <= 16; run += run) {
    pieces.tokens.push_back(run);
    pieces.parts.token_types.push_back(1);
    pieces.parts.scores.push_back(-1000.0 - static_cast<double>(run.size()));
  }
  pieces.tokens.emplace_back("\u2581\u2581");
  pieces.parts.token_types.push_back(1);
  pieces.parts.scores.push_back(-2000.0);
  pieces.parts.add_space_prefix = false;
  const auto tokenizer = made(pieces);
  const auto run = [&](std::string_view unit) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) {
      text += unit;
    }
    return tokenizer->encode(text).size();
  };
  EXPECT_EQ(run("x"), 62'500U);
  EXPECT_EQ(run(" "), 500'000U);
  EXPECT_EQ(run("\u2581"), 500'000U);
  EXPECT_EQ(run("\u0301"), 2'000'000U) << "two bytes each";
  EXPECT_EQ(run("日"), 1'000'000U);
}

TEST(TokenizerJsonPieces, SayWhatIsNotAsExpected) {
  const json::object sound =
      read_case_file("tokenizer/pieces_llama2.json").at("tokenizer").as_object();
  const auto error_when = [&](auto&& damage) {
    json::object root = sound;
    damage(root);
    const auto parsed = parse_tokenizer_json(to_json_text(root), "t.json");
    return parsed ? "no error" : parsed.error().message;
  };
  using Root = json::object;
  EXPECT_EQ(error_when([](Root&) {}), "no error");
  EXPECT_THAT(
      error_when([](Root& root) { root["normalizer"] = nullptr; }),
      HasSubstr("t.json: neither pre_tokenizer nor normalizer says what to do with blanks")
  );
  EXPECT_THAT(
      error_when([](Root& root) {
        root["normalizer"] = {{"type", "Lowercase"}};
      }),
      HasSubstr("the normalizer has the step 'Lowercase'")
  );
  EXPECT_THAT(
      error_when([](Root& root) {
        root["normalizer"] = {{"type", "Prepend"}, {"prepend", "\u2581"}};
      }),
      HasSubstr("does not replace")
  );
  EXPECT_THAT(
      error_when([](Root& root) {
        root["pre_tokenizer"] = {{"type", "Whitespace"}};
      }),
      HasSubstr("pre_tokenizer has the step 'Whitespace'; without ByteLevel, only Metaspace")
  );
  EXPECT_THAT(
      error_when([](Root& root) {
        root["normalizer"] = nullptr;
        root["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}};
      }),
      HasSubstr("must have the replacement")
  );
  EXPECT_THAT(
      error_when([](Root& root) {
        root["normalizer"] = nullptr;
        root["pre_tokenizer"] = {
            {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "last"}};
      }),
      HasSubstr("has the prepend_scheme 'last'; expected always, first or never")
  );
  EXPECT_THAT(
      error_when([](Root& root) { root["post_processor"].as_object().erase("single"); }),
      HasSubstr("post_processor.single must be an array")
  );
  EXPECT_THAT(
      error_when([](Root& root) { root["post_processor"].as_object().erase("special_tokens"); }),
      HasSubstr("post_processor does not say which ids '<s>' stands for")
  );
}

TEST(TokenizerJsonPieces, PutAroundAPromptWhatTheFilesSay) {
  const std::string text =
      to_json_text(read_case_file("tokenizer/pieces_llama2.json").at("tokenizer"));
  const TempFile file(text);
  const auto prompt_with = [&](std::string_view config) {
    const TempFile config_file(config);
    const auto tokenizer = load_tokenizer_json(file.path(), config_file.path());
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return (*tokenizer)->encode_prompt("\x01");
  };
  const Ids plain = (*load_tokenizer_json(file.path()))->encode("\x01");
  const Ids with_bos = (*load_tokenizer_json(file.path()))->encode_prompt("\x01");
  ASSERT_EQ(plain.size() + 1, with_bos.size());
  EXPECT_EQ(with_bos.front(), 1);
  EXPECT_EQ(prompt_with("{}"), with_bos) << "the post-processor's word counts";
  EXPECT_EQ(prompt_with(R"({"add_bos_token": null})"), with_bos);
  EXPECT_EQ(prompt_with(R"({"add_bos_token": false, "bos_token": "<s>"})"), plain);
  EXPECT_EQ(prompt_with(R"({"add_bos_token": true, "bos_token": {"content": "<s>"}})"), with_bos);
  Ids with_both = with_bos;
  with_both.push_back(2);
  EXPECT_EQ(prompt_with(R"({"add_eos_token": true, "eos_token": "</s>"})"), with_both);

  const TempFile broken("[]");
  EXPECT_FALSE(load_tokenizer_json(file.path(), broken.path()));
}

TEST(PieceNames, AreBytesInHexadecimal) {
  EXPECT_EQ(byte_of_piece("<0x00>"), 0);
  EXPECT_EQ(byte_of_piece("<0xFE>"), 0xFE);
  for (const char* name :
       {"<0xfe>", "<0x0>", "<0x000>", "0x00", "<0x0G>", "", "(0x00>", "<0x00)"}) {
    EXPECT_EQ(byte_of_piece(name), std::nullopt) << name;
  }
}

// Two pairs of equal scores: the leftmost is joined first, and unused pieces come apart the way
// they were last put together.
TEST(PieceMerger, FollowsScoresAndPositions) {
  const Vocabulary pieces(
      "a"
      "b"
      "ab"
      "c"
      "bc"
      "abc",
      {1, 1, 2, 1, 2, 3}
  );
  const PieceMerger plain(pieces, {0, 0, -5, 0, -5, -9}, {}, {});
  PieceMerger::Scratch scratch;
  Ids ids;
  plain.append_tokens("abc", scratch, ids);
  EXPECT_THAT(ids, ElementsAre(5)) << "ab, then abc";
  ids.clear();
  const PieceMerger unused(
      pieces, {0, 0, -5, 0, -5, -9}, {false, false, false, false, false, true}, {}
  );
  unused.append_tokens("abc", scratch, ids);
  EXPECT_THAT(ids, ElementsAre(2, 3));
  ids.clear();
  const PieceMerger right_first(pieces, {0, 0, -5, 0, -4, -9}, {}, {});
  right_first.append_tokens("abcabx", scratch, ids);
  EXPECT_THAT(ids, ElementsAre(5, 2)) << "x is no piece, and nothing stands for unknown text";
}

}  // namespace
}  // namespace rapt
