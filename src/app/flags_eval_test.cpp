#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/flags.h"
#include "app/testing/flag_parsing_internal.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EvalFlags, TakeListsOfModesAndTypes) {
  const auto options = parse_as<EvalQualityOptions>({"eval-quality", "m", "--text", "t.txt"});
  const EvalQualityOptions plain;
  EXPECT_EQ(options.load.model, "m");
  EXPECT_EQ(options.text_file, "t.txt");
  EXPECT_EQ(options.context_length, plain.context_length);
  EXPECT_EQ(options.stride, plain.stride);
  EXPECT_EQ(options.max_tokens, plain.max_tokens);
  EXPECT_FALSE(options.token_ids.has_value() || options.plain_reference || options.json);
  EXPECT_THAT(
      options.linear_modes, ElementsAre(LinearMode::kI16, LinearMode::kI8, LinearMode::kF32)
  );
  EXPECT_THAT(options.kv_cache_dtypes, ElementsAre(DType::kF32, DType::kBF16, DType::kF8E4M3));

  const auto chosen = parse_as<EvalQualityOptions>(
      {"eval-quality",
       "m",
       "--text=t",
       "--linear-mode",
       "i8,f32,i8",
       "--kv-cache-dtype=fp8",
       "--context-length=2K",
       "--stride=1024",
       "--reference",
       "--json"}
  );
  EXPECT_THAT(chosen.linear_modes, ElementsAre(LinearMode::kI8, LinearMode::kF32));
  EXPECT_THAT(chosen.kv_cache_dtypes, ElementsAre(DType::kF8E4M3));
  EXPECT_EQ(chosen.context_length, 2048);
  EXPECT_EQ(chosen.stride, 1024);
  EXPECT_TRUE(chosen.plain_reference && chosen.json);
  EXPECT_FALSE(chosen.load.engine.reference) << "only what is measured against is plain";
}

TEST(EvalFlags, RefuseWhatMakesNoSense) {
  const auto error = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"eval-quality", "m"};
    args.insert(args.end(), more.begin(), more.end());
    return error_of(args);
  };
  EXPECT_THAT(error({}), HasSubstr("--text FILE or --token-ids-file FILE"));
  EXPECT_THAT(
      error({"--text", "t", "--linear-mode", "i16,i4"}),
      HasSubstr("--linear-mode: \"i4\" is none of i16, i8 and f32")
  );
  EXPECT_THAT(
      error({"--text", "t", "--kv-cache-dtype", "auto"}), HasSubstr("none of f32, bf16 and fp8")
  );
  EXPECT_THAT(
      error({"--text", "t", "--context-length", "64", "--stride", "65"}),
      HasSubstr("--stride is 65: more than --context-length, 64")
  );
  EXPECT_THAT(error({"--text", "t", "--context-length", "1"}), HasSubstr("context-length"));
}

}  // namespace
}  // namespace rapt
