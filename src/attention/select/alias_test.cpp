#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "attention/select/alias_internal.h"
#include "attention/select/select_test_support.h"
#include "attention/select/text_internal.h"

namespace rapt {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Every way to write every name there is.
std::vector<std::string> all_spellings() {
  std::vector<std::string> names;
  for (const AliasInfo* alias : all_aliases()) {
    names.emplace_back(alias->name);
    names.push_back(lower_case(alias->name));
    names.push_back(std::string(alias->name) + "_VLLM_V1");
    for (const std::string_view spelling : words_of(alias->spellings)) {
      names.emplace_back(spelling);
    }
  }
  for (const BackendInfo* backend : attention_backends()) {
    names.emplace_back(backend->name);
  }
  for (const std::string_view name : {"auto", "none", "None", "default", "\"None\"", ""}) {
    names.emplace_back(name);
  }
  return names;
}

Result<AttentionPlan> select(
    std::string_view preset, std::string_view device, const AttentionSetting& setting
) {
  return select_attention({
      .model = find_attention_preset(preset).value(),
      .device = test_device(device),
      .settings = {&setting, 1},
      .backends = test_backends(),
  });
}

class EveryDevice : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryDevice, UnderstandsEveryName) {
  for (const std::string_view preset : {"gpt-oss-20b", "llama-3.1-8b"}) {
    for (const std::string& name : all_spellings()) {
      SCOPED_TRACE(std::string(preset) + ": " + name);
      const Result<AttentionPlan> plan =
          select(preset, GetParam(), {SettingOrigin::kCommandLine, "--attention-backend", name});
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument);
        const std::string& message = plan.error().message;
        const std::size_t works = message.find("Works here: ");
        ASSERT_NE(works, std::string::npos) << message;
        EXPECT_THAT(message.substr(works), testing::ContainsRegex("(cpu|cuda)-[a-z]+"));
        continue;
      }
      for (const SlotPlan& here : plan->slots) {
        EXPECT_EQ(here.is_used, here.backend != nullptr);
        EXPECT_TRUE(!here.is_used || here.variant->slots.contains(here.slot));
        EXPECT_TRUE(!here.is_used || here.backend->device == plan->device.kind);
      }
      // What is not Rapt's own name is explained.
      const bool is_foreign = !plan->slots.front().alias.empty();
      EXPECT_TRUE(!is_foreign || !plan->messages.empty());
    }
  }
}

TEST_P(EveryDevice, StartsWhateverAVariableSays) {
  std::vector<std::string> names = all_spellings();
  for (const std::string_view name :
       {"nonsense", "TRITON_ATN", "prefil=x", "a,b", "{", "decode="}) {
    names.emplace_back(name);
  }
  for (const std::string& name : names) {
    for (const std::string_view variable : {"VLLM_ATTENTION_BACKEND", "RAPT_ATTENTION_BACKEND"}) {
      SCOPED_TRACE(std::string(variable) + "=" + name);
      const AttentionSetting setting = test_setting(std::string(variable) + "=" + name);
      const Result<AttentionPlan> plan = select("gpt-oss-20b", GetParam(), setting);
      ASSERT_TRUE(plan) << plan.error().message;
      const bool is_said = !plan->messages.empty() || normalized_backend_name(name) == "auto" ||
                           find_attention_backend(name) != nullptr;
      EXPECT_TRUE(is_said);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Simulated,
    EveryDevice,
    testing::ValuesIn(attention_device_names()),
    [](const testing::TestParamInfo<std::string_view>& info) {
      std::string name(info.param);
      for (char& c : name) {
        c = c == ':' ? '_' : c;
      }
      return name;
    }
);

TEST(Aliases, AreUnambiguous) {
  std::set<std::string> seen;
  for (const AliasInfo* alias : all_aliases()) {
    std::vector<std::string> names = {normalized_backend_name(alias->name)};
    for (const std::string_view spelling : words_of(alias->spellings)) {
      EXPECT_EQ(normalized_backend_name(spelling), spelling) << "is not normalised";
      names.emplace_back(spelling);
    }
    for (const std::string& name : names) {
      EXPECT_TRUE(seen.insert(name).second) << name << " stands for two things";
      EXPECT_EQ(find_alias(name), alias);
    }
    EXPECT_FALSE(alias->what.empty());
    EXPECT_FALSE(alias->engines.empty());
  }
  EXPECT_GE(seen.size(), 100U);
  for (const BackendInfo* backend : attention_backends()) {
    // One name is both: cudnn means the same everywhere.
    EXPECT_TRUE(backend->name == "cudnn" || find_alias(backend->name) == nullptr);
  }
}

TEST(Aliases, PointToBackendsThatExist) {
  for (const AliasInfo* alias : all_aliases()) {
    for (const AliasTarget& target :
         {alias->targets.cpu, alias->targets.gpu, alias->targets.sm90, alias->targets.sm100}) {
      if (target.kind == AliasTarget::Kind::kBackend) {
        EXPECT_NE(find_attention_backend(target.backend), nullptr) << alias->name;
      }
    }
  }
}

TEST(Aliases, MeanWhatTheTableSays) {
  struct Row {
    std::string_view name;
    std::string_view cpu, sm80, sm90, sm100;  // "": an error
  };

  constexpr Row kRows[] = {
      {"FLASH_ATTN", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"fa2", "cpu-flash", "cuda-mma", "cuda-mma", "cuda-mma"},
      {"fa3", "cpu-flash", "", "cuda-hopper", ""},
      {"fa4", "cpu-flash", "", "", "cuda-mma"},
      {"triton", "cpu-flash", "cuda-mma", "cuda-mma", "cuda-mma"},
      {"flashinfer", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"trtllm-gen", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"xqa", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"cudnn", "", "", "", ""},  // a simulated device has no library
      {"XFORMERS", "cpu-flash", "cuda-mma", "cuda-mma", "cuda-mma"},
      {"flex_attention", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"TREE_ATTN", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"sdpa", "cpu-flash", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"IPEX", "cpu-flash", "", "", ""},
      {"eager", "cpu-ref", "cuda-ref", "cuda-ref", "cuda-ref"},
      {"TRITON_FLASHINFER", "", "cuda-mma", "cuda-hopper", "cuda-mma"},
      {"ROCM_FLASH", "", "", "", ""},
      {"ascend", "", "", "", ""},
      {"CPU_MLA", "", "", "", ""},
      {"TURBOQUANT", "", "", "", ""},
      {"NO_ATTENTION", "", "", "", ""},
  };
  for (const Row& row : kRows) {
    const std::pair<std::string_view, std::string_view> cells[] = {
        {"cpu", row.cpu}, {"sm80", row.sm80}, {"sm90", row.sm90}, {"sm100", row.sm100}};
    for (const auto& [device, wanted] : cells) {
      SCOPED_TRACE(std::string(row.name) + " on " + std::string(device));
      const Result<AttentionPlan> plan = select(
          "gpt-oss-20b",
          device,
          {SettingOrigin::kCommandLine, "--attention-backend", std::string(row.name)}
      );
      EXPECT_EQ(plan ? backend_of(*plan) : "", wanted);
    }
  }
}

TEST(Aliases, TakeCudnnWhereItIsInstalled) {
  SelectRequest request = {
      .model = find_attention_preset("gpt-oss-20b").value(),
      .device = test_device("sm90"),
      .backends = test_backends(),
  };
  request.device.cudnn = "9.14";
  request.run.is_deterministic = false;
  const std::vector<AttentionSetting> settings = test_settings({"--attention-backend cudnn"});
  request.settings = settings;
  const Result<AttentionPlan> plan = select_attention(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->at(AttentionSlot::kPrefillFull).backend->name, "cudnn");
  EXPECT_EQ(plan->at(AttentionSlot::kDecodeFull).backend->name, "cuda-hopper");
  EXPECT_THAT(
      messages_of(*plan),
      HasSubstr("cudnn has no kernel for decode.full and decode.sliding; auto chooses there.")
  );
  EXPECT_THAT(
      messages_of(*plan), HasSubstr("graphs: never only, because of cudnn in prefill.full.")
  );
}

TEST(BackendNames, AreFreedFromTheirHistory) {
  EXPECT_EQ(normalized_backend_name(" TRITON_ATTN_VLLM_V1 "), "triton_attn");
  EXPECT_EQ(normalized_backend_name("flash-attn"), "flash_attn");
  EXPECT_EQ(normalized_backend_name("AttentionBackendEnum.FLASH_ATTN"), "flash_attn");
  EXPECT_EQ(normalized_backend_name("AttentionBackend.FLASHINFER_V1"), "flashinfer");
  EXPECT_EQ(
      normalized_backend_name("vllm.v1.attention.backends.flash_attn.FlashAttentionBackend"),
      "flashattention"
  );
  EXPECT_EQ(normalized_backend_name("vllm.backends:TritonAttentionBackend"), "tritonattention");
  EXPECT_EQ(normalized_backend_name("XFORMERS_BACKEND"), "xformers");
  for (const std::string_view name : {"", " ", "None", "none", "\"None\"", "default", "AUTO"}) {
    EXPECT_EQ(normalized_backend_name(name), "auto") << name;
  }
}

TEST(BackendNames, SuggestOnlyWhatIsNear) {
  const auto error = [](std::string_view name) {
    return error_for(
        "gpt-oss-20b", "cpu", {std::string("--attention-backend ") + std::string(name)}
    );
  };
  EXPECT_THAT(
      error("cpu-flsh"), StartsWith("unknown attention backend 'cpu-flsh'. Did you mean cpu-flash?")
  );
  EXPECT_THAT(error("FLASHINFR"), HasSubstr("Did you mean FLASHINFER?"));
  EXPECT_THAT(error("x"), testing::Not(HasSubstr("Did you mean")));
  EXPECT_THAT(error("something"), testing::Not(HasSubstr("Did you mean")));
}

}  // namespace
}  // namespace rapt
