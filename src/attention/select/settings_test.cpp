#include "attention/select/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/select/select_test_support.h"

namespace rapt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

AttentionChoices parse(std::initializer_list<std::string_view> texts) {
  const std::vector<AttentionSetting> settings = test_settings(texts);
  Result<AttentionChoices> choices = parse_attention_settings(settings);
  EXPECT_TRUE(choices) << (choices ? "" : choices.error().message);
  return choices ? std::move(*choices) : AttentionChoices{};
}

std::string parse_error(std::initializer_list<std::string_view> texts) {
  const std::vector<AttentionSetting> settings = test_settings(texts);
  const Result<AttentionChoices> choices = parse_attention_settings(settings);
  EXPECT_FALSE(choices);
  return choices ? "" : choices.error().message;
}

// The four names, "-" for auto: "a b c d" in the order of slots.
std::string names_of(const AttentionChoices& choices) {
  std::string text;
  for (const SlotChoice& choice : choices.slots) {
    text += (text.empty() ? "" : " ") + (choice.is_auto() ? "-" : choice.name);
  }
  return text;
}

std::string messages_of(const AttentionChoices& choices) {
  std::string text;
  for (const AttentionMessage& message : choices.messages) {
    text += message.text + "\n";
  }
  return text;
}

TEST(AttentionSettings, GiveNamesToSlots) {
  EXPECT_EQ(names_of(parse({})), "- - - -");
  EXPECT_EQ(names_of(parse({"--attention-backend auto"})), "- - - -");
  EXPECT_EQ(names_of(parse({"--attention-backend a"})), "a a a a");
  EXPECT_EQ(names_of(parse({"--attention-backend prefill=a"})), "a a - -");
  EXPECT_EQ(names_of(parse({"--attention-backend prefill=a, decode=b"})), "a a b b");
  EXPECT_EQ(names_of(parse({"--attention-backend full=a,sliding=b"})), "a b a b");
  EXPECT_EQ(names_of(parse({"--attention-backend prefill=a,prefill.sliding=b"})), "a b - -");
  EXPECT_EQ(names_of(parse({"--attention-backend decode_full=a,sliding.prefill=b"})), "- b a -");
  EXPECT_EQ(names_of(parse({"--prefill-attention-backend a"})), "a a - -");
  EXPECT_EQ(names_of(parse({"--attention-backend c", "--decode-attention-backend b"})), "c c b b");
  EXPECT_EQ(names_of(parse({"--attn fa,fi"})), "fa fa fi fi");
  EXPECT_EQ(names_of(parse({"--attn triton"})), "triton triton triton triton");
}

TEST(AttentionSettings, ReadVllmsConfig) {
  EXPECT_EQ(names_of(parse({R"(--attention-config {"backend":"A"})"})), "A A A A");
  EXPECT_EQ(names_of(parse({"--attention-config.backend A"})), "A A A A");
  EXPECT_EQ(names_of(parse({"-ac.backend A"})), "A A A A");
  EXPECT_EQ(
      names_of(parse(
          {R"(-ac {"backend":"A","backend_per_kind":{"sliding_window":"B","full_attention":null}})"}
      )),
      "A B A B"
  );
}

TEST(AttentionSettings, TakeSwitchesAsNames) {
  EXPECT_EQ(names_of(parse({"VLLM_FLASH_ATTN_VERSION=3"})), "fa3 fa3 fa3 fa3");
  EXPECT_EQ(names_of(parse({"-ac.flash_attn_version 4"})), "fa4 fa4 fa4 fa4");
  EXPECT_EQ(names_of(parse({R"(-ac {"flash_attn_version":2})"})), "fa2 fa2 fa2 fa2");
  EXPECT_EQ(
      names_of(parse({"VLLM_USE_TRTLLM_ATTENTION=1"})),
      "trtllm_mha trtllm_mha trtllm_mha trtllm_mha"
  );
  EXPECT_EQ(names_of(parse({"-fa on"})), "fa_on fa_on fa_on fa_on");
  EXPECT_EQ(names_of(parse({"--flash-attn off"})), "fa_off fa_off fa_off fa_off");
  EXPECT_EQ(names_of(parse({"OLLAMA_FLASH_ATTENTION=auto"})), "- - - -");
  EXPECT_EQ(names_of(parse({"VLLM_USE_TRTLLM_ATTENTION=0"})), "- - - -");
  EXPECT_THAT(messages_of(parse({"VLLM_USE_TRTLLM_ATTENTION=0"})), HasSubstr("has no effect"));
}

TEST(AttentionSettings, RefineFlashAttentionByItsVersion) {
  EXPECT_EQ(
      names_of(parse({"VLLM_ATTENTION_BACKEND=FLASH_ATTN", "VLLM_FLASH_ATTN_VERSION=2"})),
      "fa2 fa2 fa2 fa2"
  );
  const AttentionChoices other =
      parse({"--attention-backend decode=FLASH_ATTN,prefill=TRITON_ATTN", "--flash-attn-version 3"}
      );
  EXPECT_EQ(names_of(other), "TRITON_ATTN TRITON_ATTN fa3 fa3");
  const AttentionChoices shadowed =
      parse({"VLLM_ATTENTION_BACKEND=TRITON_ATTN", "VLLM_FLASH_ATTN_VERSION=3"});
  EXPECT_EQ(names_of(shadowed), "TRITON_ATTN TRITON_ATTN TRITON_ATTN TRITON_ATTN");
  EXPECT_EQ(
      messages_of(shadowed),
      "VLLM_FLASH_ATTN_VERSION=3 has no effect: VLLM_ATTENTION_BACKEND=TRITON_ATTN wins.\n"
  );
}

TEST(AttentionSettings, FollowTheOrderOfOrigins) {
  const std::initializer_list<std::string_view> all = {
      "VLLM_ATTENTION_BACKEND=v",
      "RAPT_ATTENTION_BACKEND=r",
      "attention-backend: c",
      "--attention-backend f"};
  const AttentionChoices choices = parse(all);
  EXPECT_EQ(names_of(choices), "f f f f");
  EXPECT_EQ(choices.slots[0].origin, SettingOrigin::kCommandLine);
  EXPECT_EQ(
      messages_of(choices),
      "VLLM_ATTENTION_BACKEND=v has no effect: --attention-backend f wins.\n"
      "RAPT_ATTENTION_BACKEND=r has no effect: --attention-backend f wins.\n"
      "attention-backend: c has no effect: --attention-backend f wins.\n"
  );
  EXPECT_EQ(names_of(parse({"VLLM_ATTENTION_BACKEND=v", "RAPT_ATTENTION_BACKEND=r"})), "r r r r");
  EXPECT_EQ(names_of(parse({"RAPT_ATTENTION_BACKEND=r", "attention-backend: c"})), "c c c c");
  // A less specific name of a stronger origin wins.
  EXPECT_EQ(
      names_of(parse({"--attention-backend f", "VLLM_ATTENTION_BACKEND=decode=v"})), "f f f f"
  );
}

TEST(AttentionSettings, TellOnceWhatIsShadowed) {
  EXPECT_EQ(
      messages_of(parse({"--attention-backend decode=f", "VLLM_ATTENTION_BACKEND=v"})),
      "VLLM_ATTENTION_BACKEND=v counts for prefill only: --attention-backend decode=f wins for"
      " decode.\n"
  );
  EXPECT_EQ(
      messages_of(parse({"--attention-backend auto", "VLLM_ATTENTION_BACKEND=v"})),
      "VLLM_ATTENTION_BACKEND=v has no effect: --attention-backend auto wins.\n"
  );
  // The same name twice, or no name, is nothing to speak of.
  EXPECT_THAT(
      messages_of(parse({"--attention-backend v", "VLLM_ATTENTION_BACKEND=V_VLLM_V1"})), IsEmpty()
  );
  EXPECT_THAT(messages_of(parse({"--attention-backend v", "VLLM_ATTENTION_BACKEND="})), IsEmpty());
}

TEST(AttentionSettings, AreStrictWhereSomeoneTyped) {
  EXPECT_TRUE(parse({"--attention-backend a"}).slots[0].is_strict);
  EXPECT_TRUE(parse({"attention-backend: a"}).slots[0].is_strict);
  EXPECT_FALSE(parse({"RAPT_ATTENTION_BACKEND=a"}).slots[0].is_strict);
  EXPECT_FALSE(parse({"VLLM_ATTENTION_BACKEND=a"}).slots[0].is_strict);
  EXPECT_FALSE(
      parse({"--attention-backend a", "--attention-backend-policy prefer"}).slots[0].is_strict
  );
  EXPECT_TRUE(
      parse({"--attention-backend a", "--attention-backend-policy strict"}).slots[0].is_strict
  );
  EXPECT_FALSE(
      parse({"VLLM_ATTENTION_BACKEND=a", "--attention-backend-policy strict"}).slots[0].is_strict
  ) << "a variable never stops a start";
  EXPECT_TRUE(parse({"--attention-backend a",
                     "attention-backend-policy: prefer",
                     "--attention-backend-policy strict"})
                  .slots[0]
                  .is_strict);
}

TEST(AttentionSettings, RefuseWhatCannotBeRead) {
  EXPECT_EQ(
      parse_error({"--attention-backend prefil=a"}),
      "--attention-backend prefil=a: unknown slot 'prefil'; did you mean prefill? Slots: prefill,"
      " decode, full, sliding, prefill.full, prefill.sliding, decode.full, decode.sliding"
  );
  EXPECT_THAT(parse_error({"--attention-backend prefill=a,b"}), HasSubstr("'b' is not slot=NAME"));
  EXPECT_THAT(parse_error({"--attention-backend prefill="}), HasSubstr("is not slot=NAME"));
  EXPECT_THAT(parse_error({"--attention-backend a,b"}), HasSubstr("prefill=NAME,decode=NAME"));
  EXPECT_THAT(
      parse_error({"--attention-backend decode=a,decode=b"}), HasSubstr("'decode' is given twice")
  );
  EXPECT_THAT(parse_error({"--attn a,b,c"}), HasSubstr("expected NAME or PREFILL,DECODE"));
  EXPECT_THAT(parse_error({"--flash-attn-version 5"}), HasSubstr("expected 2, 3 or 4"));
  EXPECT_THAT(parse_error({"-fa maybe"}), HasSubstr("expected on, off or auto"));
  EXPECT_THAT(parse_error({"--use-trtllm-attention 2"}), HasSubstr("expected 1 or 0"));
  EXPECT_THAT(parse_error({"--attention-backend-policy lax"}), HasSubstr("strict or prefer"));
  EXPECT_THAT(parse_error({"-ac {"}), HasSubstr("-ac"));
  EXPECT_THAT(parse_error({"-ac []"}), HasSubstr("expected a JSON object"));
  EXPECT_THAT(parse_error({R"(-ac {"bakend":"A"})"}), HasSubstr("unknown field 'bakend'"));
  EXPECT_THAT(parse_error({R"(-ac {"backend_per_kind":3})"}), HasSubstr("must be an object"));
  EXPECT_THAT(
      parse_error({R"(-ac {"backend_per_kind":{"fuul":"A"}})"}),
      HasSubstr("unknown layer kind 'fuul'")
  );
  EXPECT_THAT(
      parse_error({R"(-ac {"backend_per_kind":{"full_attention":3}})"}), HasSubstr("must be a name")
  );
  EXPECT_THAT(parse_error({"--no-such-option a"}), HasSubstr("no option of attention"));
}

TEST(AttentionSettings, RefuseContradictions) {
  EXPECT_THAT(
      parse_error({"--attention-backend prefill=a,sliding=b"}),
      HasSubstr("both name a backend for prefill.sliding")
  );
  EXPECT_THAT(
      parse_error({"--attention-backend a", "--attention-config.backend b"}),
      HasSubstr("--attention-backend a and --attention-config.backend b both name a backend")
  );
  EXPECT_EQ(
      names_of(parse({"--attention-backend a", "--attention-config.backend A_VLLM_V1"})), "a a a a"
  );
  EXPECT_EQ(
      names_of(parse({"--attention-backend prefill=a,sliding=b,prefill.sliding=c"})), "a c - b"
  );
  const AttentionChoices from_variables = parse({"VLLM_ATTENTION_BACKEND=prefill=a,sliding=b"});
  EXPECT_THAT(messages_of(from_variables), HasSubstr("Going on with"));
}

TEST(AttentionSettings, OnlyWarnOfBadVariables) {
  const AttentionChoices choices = parse({"VLLM_ATTENTION_BACKEND=prefil=a"});
  EXPECT_EQ(names_of(choices), "- - - -");
  ASSERT_EQ(choices.messages.size(), 1U);
  EXPECT_EQ(choices.messages[0].level, MessageLevel::kWarning);
  EXPECT_THAT(choices.messages[0].text, HasSubstr("Going on without it."));
}

TEST(AttentionSettings, ExplainWhatHasNoEffect) {
  EXPECT_THAT(
      messages_of(parse({"--disable-cascade-attn true"})), HasSubstr("no cascade attention")
  );
  EXPECT_THAT(messages_of(parse({"VLLM_ROCM_USE_AITER=1"})), HasSubstr("AMD GPUs"));
  EXPECT_THAT(
      messages_of(parse({R"(-ac {"use_prefill_decode_attention":true})"})),
      HasSubstr("-ac.use_prefill_decode_attention true has no effect")
  );
}

TEST(AttentionOptions, AreFoundInAnySpelling) {
  for (const AttentionOption& option : attention_options()) {
    EXPECT_FALSE(option.note.empty()) << option.name;
    EXPECT_FALSE(option.engine.empty()) << option.name;
    EXPECT_EQ(find_attention_option(option.name), &option) << option.name;
  }
  EXPECT_NE(find_attention_option("attention_backend"), nullptr);
  EXPECT_EQ(
      find_attention_option("--attention-config.use_trtllm_attention"),
      find_attention_option("--use-trtllm-attention")
  );
  EXPECT_EQ(find_attention_option("--port"), nullptr);
  EXPECT_TRUE(find_attention_option("VLLM_ATTENTION_BACKEND")->is_variable());
  EXPECT_FALSE(find_attention_option("--attention-backend")->is_variable());
}

}  // namespace
}  // namespace rapt
