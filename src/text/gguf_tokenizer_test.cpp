#include "text/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/known_patterns_internal.h"
#include "text/pretokenizer_internal.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

using ::testing::HasSubstr;

// A tokenizer as a GGUF file has it, with texts of its own for the views to look at.
struct OwnedParts {
  std::vector<std::string> tokens;
  std::vector<std::int64_t> types;
  std::vector<std::string> merges;
  std::string model = "gpt2";
  std::string pre = "gpt-4o";

  GgufTokenizerParts view() const {
    return GgufTokenizerParts{
        .model = model,
        .pre = pre,
        .tokens = {tokens.begin(), tokens.end()},
        .token_types = types,
        .merges = {merges.begin(), merges.end()},
    };
  }

  std::string error() const {
    const auto result = make_gguf_tokenizer(view(), "m.gguf");
    return result ? "no error" : result.error().message;
  }
};

// What a converter makes of a tokenizer.json.
OwnedParts from_tokenizer_json(const json::object& root, const std::string& pre) {
  OwnedParts parts;
  parts.pre = pre;
  const auto put = [&](std::int64_t id, std::string_view name, std::int64_t type) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= parts.tokens.size()) {
      parts.tokens.resize(index + 1, "[PAD]");
      parts.types.resize(index + 1, 5);
    }
    parts.tokens[index] = name;
    parts.types[index] = type;
  };
  for (const auto& [token, id] : root.at("model").at("vocab").as_object()) {
    put(id.as_int64(), token, 1);
  }
  for (const json::value& added : root.at("added_tokens").as_array()) {
    put(added.at("id").as_int64(),
        added.at("content").as_string(),
        added.at("special").as_bool() ? 3 : 4);
  }
  for (const json::value& merge : root.at("model").at("merges").as_array()) {
    if (merge.is_string()) {
      parts.merges.emplace_back(merge.as_string());
    } else {
      parts.merges.push_back(
          std::string(merge.at(0).as_string()) + " " + std::string(merge.at(1).as_string())
      );
    }
  }
  return parts;
}

using FileAndPre = std::pair<const char*, const char*>;

class TinyGgufTokenizer : public testing::TestWithParam<FileAndPre> {
 protected:
  void SetUp() override {
    vectors_ = read_case_file(GetParam().first).as_object();
    const OwnedParts parts =
        from_tokenizer_json(vectors_.at("tokenizer").as_object(), GetParam().second);
    auto made = make_gguf_tokenizer(parts.view(), "m.gguf");
    ASSERT_TRUE(made) << made.error().message;
    tokenizer_ = *std::move(made);
  }

  json::object vectors_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TinyGgufTokenizer, GivesTheIdsOfTokenizers) {
  for (const json::value& item : vectors_.at("cases").as_array()) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ(tokenizer_->encode(text), ids_from_json(item.at("ids"))) << text;
    EXPECT_EQ(tokenizer_->encode_with_special(text), ids_from_json(item.at("ids_with_special")))
        << text;
  }
}

TEST_P(TinyGgufTokenizer, GivesTheIdsOfTokenizersForRandomTexts) {
  for (const json::value& chunk : vectors_.at("chunks").as_array()) {
    CaseRandom random(static_cast<std::uint64_t>(chunk.at("seed").as_int64()));
    IdHash hash;
    for (std::int64_t i = 0; i < vectors_.at("strings_per_chunk").as_int64(); ++i) {
      const std::string text = random_string(random, vectors_);
      hash.add(tokenizer_->encode(text));
      hash.add(tokenizer_->encode_with_special(text));
    }
    EXPECT_EQ(hash.hex(), chunk.at("hash").as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Splits,
    TinyGgufTokenizer,
    testing::Values(
        FileAndPre{"tokenizer/tiny_split.json", "gpt-4o"},
        FileAndPre{"tokenizer/tiny_gpt2.json", "gpt-2"},
        FileAndPre{"tokenizer/tiny_gpt2.json", "default"},
        FileAndPre{"tokenizer/tiny_llama3.json", "llama-bpe"},
        FileAndPre{"tokenizer/tiny_qwen.json", "qwen2"},
        FileAndPre{"tokenizer/tiny_smollm.json", "smollm"},
        FileAndPre{"tokenizer/tiny_deepseek.json", "deepseek-coder"},
        FileAndPre{"tokenizer/tiny_tekken.json", "tekken"}
    )
);

std::vector<std::string> pieces_of(const Pretokenizer& pretokenizer, std::string_view text) {
  std::vector<std::string> pieces;
  PieceReader reader(pretokenizer, text);
  while (const auto piece = reader.next()) {
    pieces.emplace_back(*piece);
  }
  return pieces;
}

// Hugging Face's file for SmolLM splits twice: off with each digit, then GPT-2's way.
TEST(SmollmSplit, IsTwoSplitsInOne) {
  const Pretokenizer smollm = *Pretokenizer::compile(kSmollmPattern);
  const Pretokenizer digits = *Pretokenizer::compile(R"(\p{N})");
  const Pretokenizer gpt2 = *Pretokenizer::compile(kGpt2Pattern);
  const json::object vectors = read_case_file("tokenizer/tiny_gpt2.json").as_object();
  CaseRandom random(1);
  std::vector<std::string> texts = {"a  1", "  12 x", " 1", "x 1 \n 2", "it's 3's", "  ", "٣ ½"};
  for (int count = 0; count < 2000; ++count) {
    texts.push_back(random_string(random, vectors));
  }
  for (const std::string& text : texts) {
    std::vector<std::string> expected;
    for (const std::string& part : pieces_of(digits, text)) {
      const std::vector<std::string> pieces = pieces_of(gpt2, part);
      expected.insert(expected.end(), pieces.begin(), pieces.end());
    }
    ASSERT_EQ(pieces_of(smollm, text), expected) << text;
  }
}

// The bytes of a token in the byte-level alphabet.
std::string byte_level(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    int code_point = byte;
    if (byte < 33) {
      code_point = 0x100 + byte;
    } else if (byte >= 127 && byte <= 160) {
      code_point = 0x100 + 33 + byte - 127;
    } else if (byte == 173) {
      code_point = 0x100 + 67;
    }
    if (code_point < 0x80) {
      out += static_cast<char>(code_point);
    } else {
      out += static_cast<char>(0xC0 | (code_point >> 6));
      out += static_cast<char>(0x80 | (code_point & 0x3F));
    }
  }
  return out;
}

// gpt-oss's vocabulary as its GGUF files have it, in which unused ids have other names.
OwnedParts o200k_harmony_parts() {
  OwnedParts parts;
  const Tokenizer& builtin = test_tokenizer();
  for (TokenId id = 0; id < builtin.vocab_size(); ++id) {
    const bool is_plain = id < 199'998;
    const bool is_unused = id > 200'018;
    const std::string name(builtin.token_bytes(id));
    parts.tokens.push_back(
        is_plain ? byte_level(name) : (is_unused ? "[PAD" + std::to_string(id) + "]" : name)
    );
    parts.types.push_back(is_plain ? 1 : (is_unused ? 5 : 3));
  }
  return parts;
}

TEST(GgufTokenizer, IsTheBuiltinOneForGptOss) {
  const OwnedParts parts = o200k_harmony_parts();
  ASSERT_TRUE(parts.merges.empty()) << "without them no other tokenizer could join a thing";
  const auto made = make_gguf_tokenizer(parts.view(), "m.gguf");
  ASSERT_TRUE(made) << made.error().message;
  const Tokenizer& builtin = test_tokenizer();
  ASSERT_EQ((*made)->vocab_size(), builtin.vocab_size());
  for (TokenId id = 199'990; id < builtin.vocab_size(); ++id) {
    ASSERT_EQ((*made)->token_bytes(id), builtin.token_bytes(id));
    ASSERT_EQ((*made)->is_special(id), builtin.is_special(id));
  }
  for (const json::value& item : read_case_lines("tokenizer/o200k_named.jsonl")) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ((*made)->encode(text), ids_from_json(item.at("ids"))) << text;
  }
}

TEST(GgufTokenizer, IsNotTheBuiltinOneForAnotherVocabulary) {
  const std::pair<std::size_t, std::string> changes[] = {
      {150'000, "anotherToken"}, {200'002, "<|other|>"}, {200'018, "<|other|>"}};
  for (const auto& [id, name] : changes) {
    OwnedParts parts = o200k_harmony_parts();
    parts.tokens[id] = name;
    const auto made = make_gguf_tokenizer(parts.view(), "m.gguf");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)->token_bytes(static_cast<TokenId>(id)), name);
    EXPECT_EQ((*made)->encode("qzqzqz").size(), 6U) << "it has no merges";
  }
}

TEST(GgufTokenizer, TakesTokensForWhatTheirTypesSay) {
  OwnedParts parts = from_tokenizer_json(
      read_case_file("tokenizer/tiny_split.json").at("tokenizer").as_object(), "gpt-4o"
  );
  const auto first = static_cast<TokenId>(parts.tokens.size());
  for (const auto& [name, type] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"<control>", 3}, {"<user>", 4}, {"<unused>", 5}}) {
    parts.tokens.emplace_back(name);
    parts.types.push_back(type);
  }
  const auto made = make_gguf_tokenizer(parts.view(), "m.gguf");
  ASSERT_TRUE(made) << made.error().message;
  const Tokenizer& tokenizer = **made;
  EXPECT_EQ(tokenizer.encode("<user>"), std::vector<TokenId>{first + 1});
  EXPECT_GT(tokenizer.encode("<control>").size(), 1U);
  EXPECT_EQ(tokenizer.encode_with_special("<control>"), std::vector<TokenId>{first});
  EXPECT_GT(tokenizer.encode_with_special("<unused>").size(), 1U);
  EXPECT_EQ(tokenizer.token_bytes(first + 2), "<unused>");
  EXPECT_TRUE(tokenizer.is_special(first));
  EXPECT_FALSE(tokenizer.is_special(first + 1));
}

TEST(GgufTokenizer, SaysWhatIsNotAsExpected) {
  const OwnedParts sound = from_tokenizer_json(
      read_case_file("tokenizer/tiny_split.json").at("tokenizer").as_object(), "gpt-4o"
  );
  ASSERT_EQ(sound.error(), "no error");
  const auto error_when = [&](auto&& damage) {
    OwnedParts parts = sound;
    damage(parts);
    return parts.error();
  };
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.pre = "wordpiece"; }),
      HasSubstr("\"wordpiece\", a way to split text that Rapt does not know; it knows gpt-4o "
                "llama4 llama-bpe")
  );
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.tokens.clear(); }), HasSubstr("has 0 tokens")
  );
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.types.pop_back(); }),
      HasSubstr("\"tokenizer.ggml.token_type\" has")
  );
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.types[7] = 9; }),
      HasSubstr("gives token 7 the type 9; expected 1 to 6")
  );
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.tokens[0] = ""; }), HasSubstr("token 0 has no name")
  );
  for (const std::int64_t type : {2, 3, 4, 5}) {
    EXPECT_THAT(
        error_when([&](OwnedParts& parts) {
          parts.tokens[0] = "<\xE2\x96";
          parts.types[0] = type;
        }),
        HasSubstr("token 0 is no plain text and has a name that is not UTF-8")
    );
  }
  for (const char* merge : {"", "ab", " b", "a ", " "}) {
    EXPECT_THAT(
        error_when([&](OwnedParts& parts) { parts.merges[3] = merge; }),
        HasSubstr("merges\" number 3, \"" + std::string(merge) + "\", is no pair of tokens")
    );
  }
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.merges[0] = "a \u4e00"; }),
      HasSubstr("has characters that stand for no byte")
  );
  EXPECT_THAT(
      error_when([](OwnedParts& parts) { parts.merges[0] = "q q"; }),
      HasSubstr("joins two of which one, or what they make, is no token")
  );
}

}  // namespace
}  // namespace rapt
