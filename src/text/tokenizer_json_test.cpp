#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "text/text_cases_internal.h"
#include "text/tokenizer.h"

namespace rapt {
namespace {

json::object tiny_tokenizer() {
  return read_case_file("tokenizer/tiny_split.json").at("tokenizer").as_object();
}

std::string error_of(const json::value& document) {
  const TempFile file(to_json_text(document));
  const auto result = load_tokenizer_json(file.path());
  if (result) {
    return "no error";
  }
  EXPECT_TRUE(result.error().message.starts_with(file.path())) << result.error().message;
  return result.error().message.substr(file.path().size());
}

class TinyTokenizer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vectors_ = read_case_file(GetParam()).as_object();
    auto parsed = parse_tokenizer_json(to_json_text(vectors_.at("tokenizer")), GetParam());
    ASSERT_TRUE(parsed) << parsed.error().message;
    tokenizer_ = *std::move(parsed);
  }

  json::object vectors_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TinyTokenizer, GivesTheIdsOfTokenizers) {
  for (const json::value& item : vectors_.at("cases").as_array()) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ(tokenizer_->encode(text), ids_from_json(item.at("ids"))) << text;
    EXPECT_EQ(tokenizer_->encode_with_special(text), ids_from_json(item.at("ids_with_special")))
        << text;
  }
}

TEST_P(TinyTokenizer, GivesTheIdsOfTokenizersForRandomTexts) {
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

TEST_P(TinyTokenizer, NamesItsTokens) {
  EXPECT_EQ(tokenizer_->special_id("<|end|>"), 0);
  int num_tokens =
      static_cast<int>(vectors_.at("tokenizer").at("model").at("vocab").as_object().size());
  for (const json::value& added : vectors_.at("tokenizer").at("added_tokens").as_array()) {
    const std::string name(added.at("content").as_string());
    const auto id = static_cast<TokenId>(added.at("id").as_int64());
    const bool is_special = added.at("special").as_bool();
    EXPECT_EQ(tokenizer_->token_bytes(id), name);
    EXPECT_EQ(tokenizer_->is_special(id), is_special);
    EXPECT_EQ(tokenizer_->special_id(name), is_special ? std::optional(id) : std::nullopt);
    num_tokens = std::max(num_tokens, id + 1);
  }
  EXPECT_EQ(tokenizer_->vocab_size(), num_tokens);
}

// Merges as pairs or as strings; the splits of o200k, GPT-2, Llama 3 and Qwen; ignore_merges or
// not; the NFC normalizer; added tokens with every flag; several splits one after the other, by
// digits and by plain texts too; vocabularies without some of the bytes.
INSTANTIATE_TEST_SUITE_P(
    Shapes,
    TinyTokenizer,
    testing::Values(
        "tokenizer/tiny_split.json",
        "tokenizer/tiny_gpt2.json",
        "tokenizer/tiny_llama3.json",
        "tokenizer/tiny_qwen.json",
        "tokenizer/tiny_added.json",
        "tokenizer/tiny_smollm.json",
        "tokenizer/tiny_deepseek.json",
        "tokenizer/tiny_tekken.json",
        "tokenizer/tiny_string_split.json"
    )
);

TEST(TokenizerJson, NamesTheFileThatIsMissing) {
  const auto result = load_tokenizer_json("/nonexistent/tokenizer.json");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_NE(result.error().message.find("/nonexistent/tokenizer.json"), std::string::npos);
}

TEST(TokenizerJson, NamesTheFileThatIsNoJson) {
  const TempFile file("{\"model\": ");
  const auto result = load_tokenizer_json(file.path());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kBadFile);
  EXPECT_NE(result.error().message.find(file.path()), std::string::npos);
  const TempFile empty("");
  EXPECT_EQ(load_tokenizer_json(empty.path()).error().code, ErrorCode::kBadFile);
  EXPECT_EQ(error_of(json::array{}), ": expected an object, found an array");
}

struct BadFile {
  const char* what;
  std::function<void(json::object&)> damage;
  const char* message;
};

TEST(TokenizerJson, SaysWhatIsNotAsExpected) {
  const auto model = [](json::object& root) -> json::object& { return root["model"].as_object(); };
  const BadFile cases[] = {
      {"other model",
       [&](auto& root) { model(root)["type"] = "Unigram"; },
       ": model.type is 'Unigram'; only BPE is supported"},
      {"no model", [](auto& root) { root.erase("model"); }, ": model must be an object"},
      {"byte fallback",
       [&](auto& root) { model(root)["byte_fallback"] = true; },
       ": model.byte_fallback is true beside ByteLevel, which is not supported"},
      {"no vocabulary",
       [&](auto& root) { model(root)["vocab"] = json::array{}; },
       ": model.vocab must be an object that maps tokens to ids"},
      {"id that is no number",
       [&](auto& root) { model(root)["vocab"].as_object()["!"] = "1"; },
       ": model.vocab gives '!' no id from 0 to 1048575"},
      {"negative id",
       [&](auto& root) { model(root)["vocab"].as_object()["!"] = -1; },
       ": model.vocab gives '!' no id from 0 to 1048575"},
      {"huge id",
       [&](auto& root) { model(root)["vocab"].as_object()["!"] = 1LL << 40; },
       ": model.vocab gives '!' no id from 0 to 1048575"},
      {"id given twice",
       [&](auto& root) { model(root)["vocab"].as_object()["new"] = 5; },
       ": model.vocab gives the id 5 to two tokens, one of them 'new'"},
      {"missing part of a merge",
       [&](auto& root) {
         model(root)["vocab"].as_object().erase("a");
         model(root)["merges"] = json::array{"a l"};
       },
       ": model.merges[0] joins 'a' and 'l', but these two or what they make are not all in "
       "model.vocab"},
      {"no merges",
       [&](auto& root) { model(root).erase("merges"); },
       ": model.merges must be an array"},
      {"merge of three",
       [&](auto& root) {
         model(root)["merges"] = {{"a", "b", "c"}};
       },
       ": model.merges[0] is no pair of tokens"},
      {"merge without a blank",
       [&](auto& root) { model(root)["merges"] = json::array{"ab"}; },
       ": model.merges[0] is no pair of tokens"},
      {"merge of unknown tokens",
       [&](auto& root) { model(root)["merges"] = json::array{"q q"}; },
       ": model.merges[0] joins 'q' and 'q', but these two or what they make are not all in "
       "model.vocab"},
      {"normalizer",
       [](auto& root) {
         root["normalizer"] = {{"type", "NFKC"}};
       },
       ": the normalizer must be null or NFC, not 'NFKC'; others are not supported"},
      {"no pre-tokenizer",
       [](auto& root) { root["pre_tokenizer"] = nullptr; },
       ": model.ignore_merges is true without ByteLevel, which is not supported"},
      {"steps behind ByteLevel",
       [](auto& root) {
         json::array& steps = root["pre_tokenizer"].as_object()["pretokenizers"].as_array();
         steps.push_back(steps[0]);
       },
       ": pre_tokenizer must end in ByteLevel when it holds one"},
      {"other step of a pre-tokenizer",
       [](auto& root) {
         root["pre_tokenizer"].as_object()["pretokenizers"].as_array()[0] = {
             {"type", "Whitespace"}};
       },
       ": pre_tokenizer has the step 'Whitespace'; only Split and Digits, and ByteLevel as the "
       "last, are supported"},
      {"prefix blank",
       [](auto& root) {
         root["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
       },
       ": a ByteLevel pre-tokenizer with add_prefix_space is not supported"},
      {"no split",
       [](auto& root) {
         root["pre_tokenizer"] = {
             {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
       },
       ": pre_tokenizer must split: by a Split, or by ByteLevel's use_regex"},
      {"token with another id than in the vocabulary",
       [](auto& root) { root["added_tokens"].as_array()[0].as_object()["id"] = 1000; },
       ": added token '<|end|>' has the id 1000, but model.vocab gives it 0"},
      {"token with the id of another in the vocabulary",
       [](auto& root) { root["added_tokens"].as_array()[0].as_object()["content"] = "<|new|>"; },
       ": added token '<|new|>' has the id 0, which model.vocab gives to another token"},
      {"token that stands there twice",
       [](auto& root) {
         json::array& added = root["added_tokens"].as_array();
         added.push_back(added[0]);
       },
       ": added token '<|end|>', id 0, stands there twice"},
      {"control token that merges make",
       [&](auto& root) {
         const json::value& joined = model(root)["vocab"].at("th");
         root["added_tokens"].as_array().push_back(
             {{"id", joined}, {"content", "th"}, {"special", true}}
         );
         model(root)["merges"] = json::array{{"t", "h"}};
       },
       ": model.merges[0] joins 't' and 'h', but these two or what they make are not all in "
       "model.vocab"},
      {"token without id",
       [](auto& root) { root["added_tokens"].as_array()[0].as_object().erase("id"); },
       ": each of added_tokens needs a content and an id from 0 to 1048575"},
  };
  for (const BadFile& bad : cases) {
    json::object root = tiny_tokenizer();
    bad.damage(root);
    EXPECT_EQ(error_of(root), bad.message) << bad.what;
  }
}

TEST(TokenizerJson, RefusesASplitPatternThatIsNoPattern) {
  json::object root = tiny_tokenizer();
  json::object& split =
      root["pre_tokenizer"].as_object()["pretokenizers"].as_array()[0].as_object();
  split["pattern"] = {{"Regex", "a(b"}};
  EXPECT_NE(
      error_of(root).find("the split pattern 'a(b' is no regular expression"), std::string::npos
  );
  for (const json::value& pattern : {json::value(" "), json::value{{"String", ""}}}) {
    split["pattern"] = pattern;
    EXPECT_EQ(error_of(root), ": a Split pre-tokenizer needs a pattern.Regex or a pattern.String");
  }
}

// gpt-oss' own file has 199,998 tokens and is too big for the tree; a file with its added tokens
// only shows that both forms name the same ids.
TEST(TokenizerJson, CompletesTheNamesOfO200kHarmony) {
  json::object root = tiny_tokenizer();
  root["model"].as_object()["vocab"].as_object().erase("<|end|>");
  json::array added;
  for (TokenId id = 199'998; id <= 200'018; ++id) {
    added.push_back({{"id", id}, {"content", test_tokenizer().token_bytes(id)}, {"special", true}});
  }
  root["added_tokens"] = added;
  const TempFile file(to_json_text(root));
  const auto loaded = load_tokenizer_json(file.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->vocab_size(), 201'088);
  EXPECT_EQ((*loaded)->token_bytes(200'500), "<|reserved_200500|>");
  EXPECT_GT((*loaded)->encode_with_special("<|reserved_200500|>").size(), 1U);
  EXPECT_EQ((*loaded)->encode_with_special("<|reserved_200001|>"), std::vector<TokenId>{200'001});
}

}  // namespace
}  // namespace rapt
