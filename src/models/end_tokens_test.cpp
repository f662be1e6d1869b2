#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_dir.h"
#include "models/end_tokens_internal.h"
#include "support/checkpoint_files.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kVocabSize = 300;

Result<Ids> from_json(const std::string& text, Ids ids = {}) {
  const json::value value = parse_json(text, "the test").value();
  ConfigFields fields = ConfigFields::of(value, "config.json").value();
  RETURN_IF_ERROR(add_end_tokens(fields, kVocabSize, ids));
  EXPECT_THAT(fields.unread(), IsEmpty());
  return ids;
}

Result<Ids> from_gguf(const std::function<void(GgufWriter&)>& add, Ids ids = {}) {
  const TempFolder folder;
  GgufWriter writer;
  writer.add_text("general.architecture", "any");
  add(writer);
  writer.add_tensor("odd", kGgufF32, {1}, "1234");
  const auto checkpoint = CheckpointDir::open(folder.write("m.gguf", writer.bytes()));
  CHECK(checkpoint.has_value(), checkpoint.error().message);
  RETURN_IF_ERROR(add_gguf_end_tokens(*checkpoint->gguf(), kVocabSize, ids));
  return ids;
}

std::string error_of(const Result<Ids>& result) {
  return result ? "no error" : result.error().message;
}

TEST(EndTokens, AreAscendingAndThereOnce) {
  EXPECT_THAT(*from_json(R"({"eos_token_id": 2})"), ElementsAre(2));
  EXPECT_THAT(*from_json(R"({"eos_token_id": [299, 0, 7, 0]})", {3, 7}), ElementsAre(0, 3, 7, 299));
  EXPECT_THAT(*from_json("{}", {3}), ElementsAre(3));
  EXPECT_THAT(*from_json(R"({"eos_token_id": null})", {3}), ElementsAre(3));
  EXPECT_THAT(*from_json(R"({"eos_token_id": []})", {3}), ElementsAre(3));
}

TEST(EndTokens, ComeFromEveryKeyOfGguf) {
  const auto ids = from_gguf(
      [](GgufWriter& writer) {
        writer.add_u32("tokenizer.ggml.eos_token_id", 5)
            .add_u32("tokenizer.ggml.eot_token_id", 4)
            .add_u32("tokenizer.ggml.eom_token_id", 299)
            .add_i32s("tokenizer.ggml.eos_token_ids", {5, 0});
      },
      {3}
  );
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_THAT(*ids, ElementsAre(0, 3, 4, 5, 299));
  EXPECT_THAT(*from_gguf([](GgufWriter&) {}), IsEmpty());
}

TEST(EndTokens, MayBeNone) {
  EXPECT_THAT(*from_json(R"({"eos_token_id": -1})"), IsEmpty());
  EXPECT_THAT(*from_json(R"({"eos_token_id": [-1, 7]})"), ElementsAre(7));
  const auto ids = from_gguf([](GgufWriter& writer) {
    writer.add_u32("tokenizer.ggml.eos_token_id", 0xFFFFFFFF)
        .add_i32s("tokenizer.ggml.eos_token_ids", {-1, 7});
  });
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_THAT(*ids, ElementsAre(7));
}

TEST(EndTokens, MustBeInTheVocabulary) {
  EXPECT_EQ(
      error_of(from_json(R"({"eos_token_id": 300})")),
      "config.json: \"eos_token_id\" names token 300, but the vocabulary has 300 tokens, so that "
      "answers would not end; expected an id below that, or -1 for none"
  );
  EXPECT_THAT(error_of(from_json(R"({"eos_token_id": [7, -2]})")), HasSubstr("names token -2,"));
  EXPECT_THAT(
      error_of(from_json(R"({"eos_token_id": 4294967296})")), HasSubstr("token 4294967296,")
  );
  for (const char* key :
       {"tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    const std::string error =
        error_of(from_gguf([&](GgufWriter& writer) { writer.add_u32(key, 300); }));
    EXPECT_THAT(error, HasSubstr("m.gguf: \"" + std::string(key) + "\" names token 300, but"));
  }
  EXPECT_THAT(
      error_of(from_gguf([](GgufWriter& writer) {
        writer.add_i32s("tokenizer.ggml.eos_token_ids", {7, 300});
      })),
      HasSubstr("\"tokenizer.ggml.eos_token_ids\" names token 300,")
  );
}

TEST(EndTokens, AreIntegers) {
  for (const char* value : {R"("7")", R"([1, "7"])", "1.5", "true", "[[1]]", "1e30", "{}"}) {
    EXPECT_THAT(
        error_of(from_json(R"({"eos_token_id": )" + std::string(value) + "}")),
        HasSubstr("expected a token id, or an array of token ids")
    );
  }
  EXPECT_THAT(
      error_of(from_gguf([](GgufWriter& writer) {
        writer.add_text("tokenizer.ggml.eos_token_id", "</s>");
      })),
      HasSubstr("\"tokenizer.ggml.eos_token_id\" is a string; expected an integer")
  );
}

}  // namespace
}  // namespace rapt
