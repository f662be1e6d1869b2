#include "attention/select/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attention/select/calibration.h"
#include "attention/select/docs_table.h"
#include "attention/select/select_test_support.h"
#include "attention/select/text_internal.h"

namespace rapt {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlanText, IsATable) {
  const std::string text = plan_text(plan_for("gpt-oss-20b", "sm90"));
  EXPECT_EQ(
      text,
      R"(model gpt-oss-20b: 24 layers (12 sliding w=128, 12 full), 64/8 heads x 64, sinks on all layers
device NVIDIA H200, SM 9.0, 141 GB, 4800 GB/s, simulated

 backend      prefill full/slid  decode full/slid  est. 8k prefill  est. decode b32x8k  why / why not
 cuda-hopper  ok / ok            ok / ok           13 ms            1.7 ms              <- chosen; not built
 cuda-mma     ok / ok            ok / ok           21 ms            1.8 ms              valid, 1.6x slower prefill, 1.05x slower decode; not built
 cuda-ref     ok / ok            ok / ok           3.4 s            44 ms               valid, 263x slower prefill, 25x slower decode; not built
 cudnn        -                  -                                                      needs libcudnn >= 9.13, a simulated device has none; no decode kernel; not built
 cpu-flash    -                  -                                                      device is a GPU; use --device cpu
 cpu-ref      -                  -                                                      device is a GPU; use --device cpu

attention: cuda-hopper (auto) | full: prefill wgmma, decode split-kv | sliding 128: prefill wgmma window, decode window fused | KV bf16 HND block 64 | graphs: all batches
           next best cuda-mma, estimated 1.6x slower prefill, 1.05x slower decode; details: `rapt attention list`
)"
  );
}

TEST(PlanText, ShowsTheCpusRatesAsAssumed) {
  const std::string text = plan_text(plan_for("gpt-oss-20b", "cpu"));
  EXPECT_THAT(text, HasSubstr("device AMD EPYC, avx512, 2 threads, 24 GB, 24 GB/s (assumed)\n"));
  EXPECT_THAT(text, HasSubstr("attention: cpu-flash[avx512] (auto) | full: prefill tiled"));
  EXPECT_THAT(text, Not(HasSubstr("simulated")));
}

TEST(PlanText, HasOneColumnAPhaseWithoutWindows) {
  const std::string text = plan_text(plan_for("llama", "sm80"));
  EXPECT_THAT(text, HasSubstr(" backend      prefill  decode  "));
}

TEST(PlanText, ShowsWhoChose) {
  EXPECT_THAT(
      startup_line(plan_for("gpt-oss-20b", "cpu", {"VLLM_ATTENTION_BACKEND=FLASH_ATTN"})),
      HasSubstr("cpu-flash[avx512] (environment)")
  );
  EXPECT_THAT(
      startup_line(plan_for("gpt-oss-20b", "cpu", {"attention-backend: cpu-ref"})),
      HasSubstr("cpu-ref[avx512] (config file)")
  );
  // A name that could not be followed did not choose.
  EXPECT_THAT(
      startup_line(plan_for("gpt-oss-20b", "cpu", {"VLLM_ATTENTION_BACKEND=FLASHMLA"})),
      HasSubstr("cpu-flash[avx512] (auto)")
  );
}

TEST(PlanJson, HoldsThePlanAndTheWholeTable) {
  const json::object plan =
      plan_json(plan_for("gpt-oss-20b", "sm90", {"--attention-backend decode=TRITON_ATTN"}));
  EXPECT_EQ(plan.at("model").at("name"), "gpt-oss-20b");
  EXPECT_EQ(plan.at("device").at("compute_capability"), "9.0");
  EXPECT_EQ(plan.at("device").at("simulated"), true);
  const json::value& decode = plan.at("slots").at("decode_full");
  EXPECT_EQ(decode.at("backend"), "cuda-mma");
  EXPECT_EQ(decode.at("origin"), "command line");
  EXPECT_EQ(decode.at("setting"), "--attention-backend decode=TRITON_ATTN");
  EXPECT_EQ(decode.at("alias"), "TRITON_ATTN");
  const json::value& prefill = plan.at("slots").at("prefill_full");
  EXPECT_EQ(prefill.at("origin"), "auto");
  EXPECT_TRUE(prefill.at("alias").is_null());
  ASSERT_EQ(plan.at("backends").as_array().size(), attention_backends().size());
  for (const json::value& backend : plan.at("backends").as_array()) {
    for (const AttentionSlot slot : kAttentionSlots) {
      const json::value& standing = backend.at("slots").at(key_of(slot));
      EXPECT_EQ(standing.at("valid").as_bool(), standing.at("reasons").as_array().empty());
    }
  }
  EXPECT_FALSE(plan.at("messages").as_array().empty());
  // It is one line of JSON that reads back.
  const std::string text = to_json_text(plan);
  EXPECT_EQ(to_json_text(*parse_json(text, "the plan")), text);
}

TEST(PlanJson, LeavesOutSlotsWithoutLayers) {
  const json::object plan = plan_json(plan_for("llama", "cpu"));
  EXPECT_EQ(plan.at("slots").at("decode_sliding"), (json::object{{"used", false}}));
  EXPECT_EQ(plan.at("device").at("cpu_level"), "avx512");
}

TEST(Calibration, SurvivesItsFile) {
  const Calibration calibration = {
      .device = "AMD EPYC",
      .level = "avx512",
      .num_workers = 2,
      .bandwidth_gbs = 31.25,
      .peak_tflops = 0.25,
      .entries = {{"cpu-flash", "tiled", AttentionSlot::kPrefillFull, 7.5, 0.75, 0.5}},
  };
  const Result<Calibration> read = parse_calibration(calibration_text(calibration), "the file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->device, "AMD EPYC");
  EXPECT_EQ(read->num_workers, 2);
  EXPECT_DOUBLE_EQ(read->bandwidth_gbs, 31.25);
  const Calibration::Entry* entry = read->find("cpu-flash", "tiled", AttentionSlot::kPrefillFull);
  ASSERT_NE(entry, nullptr);
  EXPECT_DOUBLE_EQ(entry->fixed_us, 7.5);
  EXPECT_DOUBLE_EQ(entry->bandwidth_share, 0.75);
  EXPECT_DOUBLE_EQ(entry->compute_share, 0.5);
  EXPECT_EQ(read->find("cpu-flash", "tiled", AttentionSlot::kDecodeFull), nullptr);
}

TEST(Calibration, SaysWhatIsWrongWithAFile) {
  const auto error = [](std::string_view text) {
    const Result<Calibration> read = parse_calibration(text, "cal.json");
    EXPECT_FALSE(read) << text;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(error("{"), HasSubstr("cal.json"));
  EXPECT_THAT(error("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error("{}"), HasSubstr("field device must be a string"));
  const std::string head =
      R"({"device":"d","level":"l","num_workers":2,"bandwidth_gbs":1,"peak_tflops":1)";
  EXPECT_THAT(error(head + "}"), HasSubstr("entries must be a list"));
  EXPECT_THAT(error(head + R"(,"entries":[3]})"), HasSubstr("entries must be objects"));
  EXPECT_THAT(
      error(head + R"(,"entries":[{"backend":"b","variant":"v","slot":"x"}]})"),
      HasSubstr("unknown slot 'x'")
  );
  EXPECT_THAT(
      error(
          head +
          R"(,"entries":[{"backend":"b","variant":"v","slot":"decode_full","fixed_us":1,"bandwidth_share":0}]})"
      ),
      HasSubstr("bandwidth_share must be a number")
  );
  EXPECT_THAT(
      error(R"({"device":"d","level":"l","num_workers":2,"bandwidth_gbs":0})"),
      HasSubstr("bandwidth_gbs")
  );
}

TEST(DocsTables, SayWhatTheRegistrySays) {
  const std::string backends = backends_markdown();
  for (const BackendInfo* backend : attention_backends()) {
    EXPECT_THAT(backends, HasSubstr("| `" + std::string(backend->name) + "` | "));
    for (const KernelVariant& variant : backend->variants) {
      EXPECT_THAT(backends, HasSubstr(std::string(variant.description)));
    }
  }
  EXPECT_THAT(backends, HasSubstr("SM 8.0 or later, with libcudnn >= 9.13"));
  EXPECT_THAT(
      aliases_markdown(),
      HasSubstr("| portable | `cpu-flash` | `cuda-mma` | `cuda-mma` | `cuda-mma` |")
  );
  EXPECT_THAT(options_markdown(), HasSubstr("| `VLLM_ATTENTION_BACKEND` | vLLM | "));
  // Every line of a table has as many cells as its head.
  for (const std::string& table : {backends, aliases_markdown(), options_markdown()}) {
    std::ptrdiff_t num_bars = 0;
    for (const std::string& line : split(table, '\n')) {
      const std::ptrdiff_t here =
          std::count(line.begin(), line.end(), '|') - (line.find("\\|") == line.npos ? 0 : 1);
      num_bars = line.starts_with("|") && num_bars == 0 ? here : num_bars;
      EXPECT_TRUE(line.empty() || here == num_bars) << line;
      num_bars = line.empty() ? 0 : num_bars;
    }
  }
}

TEST(PlanNumbers, AreShort) {
  EXPECT_EQ(duration_text(850), "850 us");
  EXPECT_EQ(duration_text(7600), "7.6 ms");
  EXPECT_EQ(duration_text(61400), "61 ms");
  EXPECT_EQ(duration_text(4.1e6), "4.1 s");
  EXPECT_EQ(factor_text(1.05), "1.05x");
  EXPECT_EQ(factor_text(1.62), "1.6x");
  EXPECT_EQ(factor_text(40.4), "40x");
  EXPECT_EQ(decimal(2.0, 2), "2");
}

}  // namespace
}  // namespace rapt
