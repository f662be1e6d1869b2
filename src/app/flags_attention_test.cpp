#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/flag_sources_internal.h"
#include "app/flag_table_internal.h"
#include "app/flags.h"
#include "app/testing/flag_parsing_internal.h"

namespace rapt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Settings as text, "origin: option value".
std::vector<std::string> settings_of(
    std::vector<std::string> args, const Environment& environment = {}
) {
  args.insert(args.begin(), {"serve", "m"});
  std::vector<std::string> texts;
  for (const AttentionSetting& setting : parse_as<ServeOptions>(args, environment).load.attention) {
    texts.push_back(std::string(name_of(setting.origin)) + " | " + setting.text());
  }
  return texts;
}

TEST(AttentionFlags, EveryFlagBecomesASetting) {
  EXPECT_THAT(settings_of({}), IsEmpty());
  EXPECT_THAT(
      settings_of(
          {"--attention-backend",
           "cpu-ref",
           "--prefill-attention-backend=a",
           "--decode_attention_backend",
           "b",
           "--attention-backend-policy",
           "prefer",
           "--flash-attn",
           "off"}
      ),
      ElementsAre(
          "command line | --attention-backend cpu-ref",
          "command line | --prefill-attention-backend a",
          "command line | --decode-attention-backend b",
          "command line | --attention-backend-policy prefer",
          "command line | --flash-attn off"
      )
  );
  EXPECT_THAT(
      error_of({"serve", "m", "--attention-backend-policy", "maybe"}), HasSubstr("strict, prefer")
  );
}

TEST(AttentionFlags, ConfigComesAsJsonOrAKeyAtATime) {
  EXPECT_THAT(
      settings_of({"--attention-config", R"({"backend": "X"})"}),
      ElementsAre(R"(command line | --attention-config {"backend": "X"})")
  );
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--attention-config.backend", "X"},
        {"--attention_config.backend=X"},
        {"-ac.backend", "X"},
        {"-ac.backend=X"},
        {"--attention-config=backend=X"}}) {
    EXPECT_THAT(settings_of(args), ElementsAre("command line | --attention-config.backend X"));
  }
  EXPECT_THAT(
      settings_of({"-ac", R"({"backend":"X"})", "-ac.flash_attn_version", "3"}),
      ElementsAre(
          R"(command line | --attention-config {"backend":"X"})",
          "command line | --attention-config.flash_attn_version 3"
      )
  );
  EXPECT_THAT(
      settings_of({"-ac.backend_per_kind.sliding_window", "cpu-ref"}),
      ElementsAre(
          R"(command line | --attention-config {"backend_per_kind":{"sliding_window":"cpu-ref"}})"
      )
  );
  EXPECT_THAT(error_of({"serve", "m", "-ac", "X"}), HasSubstr("a JSON object or KEY=VALUE"));
  EXPECT_THAT(error_of({"serve", "m", "-ac.backend"}), HasSubstr("--attention-config"));
}

TEST(AttentionFlags, FlashAttentionIsOnWithoutAWord) {
  const auto word_of = [](std::vector<std::string> args) {
    const std::vector<std::string> settings = settings_of(std::move(args));
    return settings.size() == 1 ? settings.front().substr(settings.front().rfind(' ') + 1) : "";
  };
  EXPECT_EQ(word_of({"-fa"}), "on");
  EXPECT_EQ(word_of({"--flash-attn"}), "on");
  EXPECT_EQ(word_of({"-fa", "--port", "1"}), "on");
  EXPECT_EQ(word_of({"-fa", "1"}), "on");
  EXPECT_EQ(word_of({"-fa", "off"}), "off");
  EXPECT_EQ(word_of({"-fa=auto"}), "auto");
  EXPECT_THAT(error_of({"serve", "m", "-fa=maybe"}), HasSubstr("one of on, off, auto"));
  // A word that is none of them is not taken.
  EXPECT_EQ(parse_as<RunOptions>({"run", "-fa", "m", "hello"}).prompt, "hello");
}

TEST(AttentionFlags, OverruledPlacesAreKept) {
  const ConfigFile file("attention-backend: b\n");
  EXPECT_THAT(
      settings_of(
          {"--config", file.path(), "--attention-backend", "c"},
          {{"RAPT_ATTENTION_BACKEND", "a"}, {"VLLM_ATTENTION_BACKEND", "v"}}
      ),
      ElementsAre(
          "environment | RAPT_ATTENTION_BACKEND=a",
          "config file | attention-backend: b",
          "command line | --attention-backend c",
          "environment of another engine | VLLM_ATTENTION_BACKEND=v"
      )
  );
}

TEST(AttentionFlags, AConfigFileMayHoldTheMapping) {
  const ConfigFile file(
      "attention-config:\n"
      "  backend: a\n"
      "  backend_per_kind:\n"
      "    full_attention: b\n"
      "attention_config.flash_attn_version: 3\n"
  );
  EXPECT_THAT(
      settings_of({"--config", file.path()}),
      ElementsAre(
          "config file | attention-config.backend: a",
          R"(config file | attention-config: {"backend_per_kind":{"full_attention":"b"}})",
          "config file | attention-config.flash_attn_version: 3"
      )
  );
  const ConfigFile lists("attention-config: [a]\n");
  EXPECT_THAT(error_of({"serve", "m", "--config", lists.path()}), HasSubstr("attention-config"));
  const ConfigFile dotted("port.x: 1\n");
  EXPECT_THAT(error_of({"serve", "m", "--config", dotted.path()}), HasSubstr("unknown flag"));
}

TEST(AttentionFlags, OurVariablesAreKnownOptions) {
  for (const FlagSpec& flag : attention_flags()) {
    if (flag.every_source) {
      EXPECT_NE(find_attention_option(environment_name(flag.name)), nullptr) << flag.name;
    }
  }
}

TEST(AttentionFlags, OtherEnginesVariablesAreSettings) {
  EXPECT_THAT(
      settings_of(
          {},
          {{"VLLM_FLASH_ATTN_VERSION", "3"},
           {"OLLAMA_FLASH_ATTENTION", "1"},
           {"VLLM_ROCM_USE_AITER", "1"},
           {"VLLM_ATTENTION_BACKEND", ""},
           {"PATH", "/bin"}}
      ),
      ::testing::UnorderedElementsAre(
          "environment of another engine | VLLM_FLASH_ATTN_VERSION=3",
          "environment of another engine | OLLAMA_FLASH_ATTENTION=1",
          "environment of another engine | VLLM_ROCM_USE_AITER=1"
      )
  );
}

TEST(AttentionFlags, EveryOptionThatIsAFlagIsTaken) {
  for (const AttentionOption& option : attention_options()) {
    if (!option.name.starts_with('-')) {
      continue;
    }
    const std::string name(option.name);
    bool was_taken = false;
    for (const std::string& value :
         {name + "=3", name + "=true", name + "=on", name + "=prefer", name + "={}"}) {
      was_taken = was_taken || parse({"serve", "m", value}).has_value();
    }
    EXPECT_TRUE(was_taken) << name;
  }
}

TEST(AttentionFlags, HelpListsOursAndTheirSpellings) {
  const std::string help = parse_as<PrintText>({"serve", "--help"}).text;
  EXPECT_THAT(help, AllOf(HasSubstr("--attention-backend, --attn-backend NAME"), HasSubstr("-fa")));
  EXPECT_THAT(help, Not(HasSubstr("--mla-prefill-backend")));
}

TEST(AttentionFlags, TheAttentionCommandSaysWhatItNeeds) {
  const auto list = parse_as<AttentionOptions>(
      {"attention", "list", "--model", "x", "--device", "sm90", "--json", "-fa", "off"}
  );
  EXPECT_EQ(list.action, AttentionOptions::Action::kList);
  EXPECT_EQ(list.model, "x");
  EXPECT_EQ(list.device, "sm90");
  EXPECT_TRUE(list.json);
  EXPECT_EQ(list.settings.size(), 1U);
  EXPECT_EQ(parse_as<AttentionOptions>({"attention", "list"}).model, "openai/gpt-oss-20b");

  const auto explain =
      parse_as<AttentionOptions>({"attention", "explain", "XFORMERS", "--for", "vllm@0.11.0"});
  EXPECT_EQ(explain.action, AttentionOptions::Action::kExplain);
  EXPECT_EQ(explain.name, "XFORMERS");
  EXPECT_EQ(explain.release, "vllm@0.11.0");

  EXPECT_THAT(error_of({"attention"}), HasSubstr("list, explain NAME, selftest, bench or docs"));
  EXPECT_THAT(error_of({"attention", "lst"}), HasSubstr("list, explain, selftest, bench, docs"));
  EXPECT_THAT(error_of({"attention", "explain"}), HasSubstr("needs a NAME to explain"));
  EXPECT_THAT(
      error_of({"attention", "explain", "--for", "vllm@0.11.0"}), HasSubstr("needs a NAME")
  );
  EXPECT_THAT(error_of({"attention", "list", "XFORMERS"}), HasSubstr("explain only"));
  EXPECT_TRUE(parse_as<SelftestOptions>({"selftest", "--json"}).json);
  EXPECT_TRUE(parse_as<AttentionOptions>({"attention", "selftest", "--full"}).selftest.full);
}

TEST(AttentionFlags, BlockSizeGoesToTheEngine) {
  EXPECT_EQ(parse_as<ServeOptions>({"serve", "m"}).load.engine.kv_block_size, 0);
  EXPECT_EQ(
      parse_as<ServeOptions>({"serve", "m", "--page-size", "32"}).load.engine.kv_block_size, 32
  );
}

TEST(AttentionFlags, BlockSizesAreThoseThatTheCacheCanLayOut) {
  EXPECT_EQ(
      parse_as<ServeOptions>({"serve", "m", "--block-size", "48"}).load.engine.kv_block_size, 48
  );
  for (const char* size : {"7", "24", "0", "4112"}) {
    EXPECT_THAT(
        error_of({"serve", "m", "--block-size", size}),
        AllOf(HasSubstr(size), HasSubstr("from 16 to 4096, a multiple of 16, or auto"))
    );
  }
  EXPECT_THAT(error_of({"serve", "m"}, {{"RAPT_BLOCK_SIZE", "7"}}), HasSubstr("multiple of 16"));
}

}  // namespace
}  // namespace rapt
