#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/openai/completion_request_internal.h"

namespace rapt::openai {
namespace {

using Ids = std::vector<TokenId>;

Result<CompletionRequest> parse(const std::string& text) {
  return parse_completion_request(parse_json(text, "the test").value());
}

CompletionRequest parsed(const std::string& text) {
  Result<CompletionRequest> request = parse(text);
  EXPECT_TRUE(request) << request.error().message;
  return request ? std::move(request).value() : CompletionRequest();
}

std::string param_of_error(const std::string& text) {
  const Result<CompletionRequest> request = parse(text);
  return request ? "(no error)" : request.error().param;
}

TEST(CompletionRequest, APromptHasFourForms) {
  EXPECT_THAT(parsed(R"({"prompt":"a"})").prompts, ::testing::ElementsAre(Prompt("a")));
  EXPECT_THAT(
      parsed(R"({"prompt":["a","b"]})").prompts, ::testing::ElementsAre(Prompt("a"), Prompt("b"))
  );
  EXPECT_THAT(parsed(R"({"prompt":[1,2]})").prompts, ::testing::ElementsAre(Prompt(Ids{1, 2})));
  EXPECT_THAT(
      parsed(R"({"prompt":[[1],[2,3]]})").prompts,
      ::testing::ElementsAre(Prompt(Ids{1}), Prompt(Ids{2, 3}))
  );
}

TEST(CompletionRequest, OtherPromptsAreRefused) {
  for (const char* prompt :
       {"1",
        "{}",
        "[]",
        "[1,\"a\"]",
        "[\"a\",1]",
        "[[1],\"a\"]",
        "[1.5]",
        "[-1]",
        "[null]",
        "[[\"a\"]]",
        "[99999999999]",
        "[[[1]]]",
        "true"}) {
    EXPECT_EQ(param_of_error(R"({"prompt":)" + std::string(prompt) + "}"), "prompt") << prompt;
  }
  EXPECT_EQ(param_of_error("{}"), "prompt");
}

TEST(CompletionRequest, DefaultLimitIsSixteenTokens) {
  EXPECT_EQ(parsed(R"({"prompt":"a"})").params.max_tokens, 16);
  EXPECT_EQ(parsed(R"({"prompt":"a","max_tokens":null})").params.max_tokens, 16);
  EXPECT_EQ(parsed(R"({"prompt":"a","max_tokens":0})").params.max_tokens, 0);
}

TEST(CompletionRequest, LogprobsAreACount) {
  EXPECT_EQ(parsed(R"({"prompt":"a","logprobs":3})").params.sampling.num_logprobs, 3);
  EXPECT_EQ(param_of_error(R"({"prompt":"a","logprobs":true})"), "logprobs");
  EXPECT_EQ(param_of_error(R"({"prompt":"a","logprobs":21})"), "logprobs");
  EXPECT_EQ(param_of_error(R"({"prompt":"a","logprobs":1,"echo":true})"), "logprobs");
}

TEST(CompletionRequest, BestOfMayNotExceedN) {
  parsed(R"({"prompt":"a","best_of":2,"n":2})");
  EXPECT_EQ(param_of_error(R"({"prompt":"a","best_of":3,"n":2})"), "best_of");
}

TEST(CompletionRequest, SuffixIsRefused) {
  parsed(R"({"prompt":"a","suffix":""})");
  EXPECT_EQ(param_of_error(R"({"prompt":"a","suffix":"b"})"), "suffix");
}

TEST(CompletionRequest, TooManyChoicesInAllAreRefused) {
  std::string prompts = "\"x\"";
  for (int i = 1; i < 33; ++i) {
    prompts += ",\"x\"";
  }
  EXPECT_EQ(param_of_error(R"({"n":128,"prompt":[)" + prompts + "]}"), "n");
  parsed(R"({"n":124,"prompt":[)" + prompts + "]}");
}

TEST(CompletionRequest, TooManyPromptsAreRefused) {
  std::string prompts = "\"x\"";
  for (std::size_t i = 0; i < kMaxPrompts; ++i) {
    prompts += ",\"x\"";
  }
  EXPECT_EQ(param_of_error(R"({"prompt":[)" + prompts + "]}"), "prompt");
}

}  // namespace
}  // namespace rapt::openai
