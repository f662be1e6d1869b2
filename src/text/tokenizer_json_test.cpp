#include <gtest/gtest.h>

#include <functional>
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

class TinyTokenizer : public testing::TestWithParam<const char*> {};

// One file has merges as pairs, a Split pattern and ignore_merges; the other has merges as strings
// and GPT-2's split.
TEST_P(TinyTokenizer, GivesTheIdsOfTokenizers) {
  const json::value vectors = read_case_file(GetParam());
  const TempFile file(to_json_text(vectors.at("tokenizer")));
  const auto loaded = load_tokenizer_json(file.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (const json::value& item : vectors.at("cases").as_array()) {
    const std::string text(item.at("text").as_string());
    EXPECT_EQ((*loaded)->encode(text), ids_from_json(item.at("ids"))) << text;
    EXPECT_EQ((*loaded)->encode_with_special(text), ids_from_json(item.at("ids_with_special")))
        << text;
  }
  EXPECT_EQ((*loaded)->special_id("<|end|>"), 0);
  EXPECT_EQ((*loaded)->special_id("<think>"), std::nullopt) << "a word of its own, but no control";
  const std::size_t num_tokens = vectors.at("tokenizer").at("model").at("vocab").as_object().size();
  EXPECT_EQ((*loaded)->vocab_size(), static_cast<int>(num_tokens) + 1) << "<think> comes last";
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TinyTokenizer, testing::Values("tokenizer/tiny_split.json", "tokenizer/tiny_gpt2.json")
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
       ": model.byte_fallback is true; only byte-level BPE is supported, where it is false"},
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
      {"missing byte",
       [&](auto& root) { model(root)["vocab"].as_object().erase("a"); },
       ": model.vocab has no token for byte 97; byte-level BPE needs all 256"},
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
         root["normalizer"] = {{"type", "NFC"}};
       },
       ": the normalizer must be null; others are not supported"},
      {"no pre-tokenizer",
       [](auto& root) { root["pre_tokenizer"] = nullptr; },
       ": pre_tokenizer must be an object: only byte-level BPE is supported"},
      {"other pre-tokenizer",
       [](auto& root) {
         root["pre_tokenizer"] = {{"type", "Metaspace"}};
       },
       ": pre_tokenizer must be ByteLevel, or a Split and then ByteLevel"},
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
       ": pre_tokenizer must split once: by a Split, or by ByteLevel's use_regex"},
      {"stripping token",
       [](auto& root) { root["added_tokens"].as_array()[0].as_object()["lstrip"] = true; },
       ": added token '<|end|>' has lstrip, which is not supported"},
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
  split["pattern"] = {{"String", " "}};
  EXPECT_EQ(error_of(root), ": a Split pre-tokenizer needs a pattern.Regex");
}

// gpt-oss' own file has 199,998 tokens and is too big for the tree; a file with its added tokens
// only shows that both forms name the same ids.
TEST(TokenizerJson, CompletesTheNamesOfO200kHarmony) {
  json::object root = tiny_tokenizer();
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
