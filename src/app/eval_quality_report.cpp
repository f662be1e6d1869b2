#include "app/eval_quality_report.h"

#include <cstdio>

#include "app/bench_measure.h"

namespace rapt {

namespace {

// How much a perplexity lies above the reference's, in percent.
double change_of(const QualityScore& score, const QualityScore& reference) {
  return 100.0 * (score.perplexity / reference.perplexity - 1.0);
}

std::string signed_percent(double percent) {
  char text[64];
  std::snprintf(text, sizeof(text), "%+.3f %%", percent);
  return text;
}

json::object score_json(const EngineConfig& config, const QualityScore& score) {
  return {
      {"linear_mode", std::string(name_of(config.linear_mode))},
      {"kv_cache_dtype", kv_cache_dtype_name(config.kv_cache_dtype)},
      {"attention", config.attention->numerics_class},
      {"kernels", config.reference ? "reference" : "fast"},
      {"perplexity", score.perplexity},
  };
}

}  // namespace

std::string kv_cache_dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF8E4M3:
      return "fp8";
    default:
      return "bf16";
  }
}

std::string in_powers(double value) {
  if (value == 0.0) {
    return "0";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", value);
  return text;
}

void print_report(const QualityReport& report) {
  const QualityScore& reference = report.result.reference;
  std::printf("model      %s, mostly %s\n", report.model.c_str(), report.weight_format.c_str());
  std::printf(
      "text       %s: %d tokens in windows of %d, one every %d; %lld predictions in %.0f s\n",
      report.text.c_str(),
      report.num_tokens,
      report.context_length,
      report.stride,
      static_cast<long long>(reference.num_predictions),
      report.seconds
  );
  std::printf(
      "reference  linear mode f32, KV cache f32, %s: perplexity %.4f\n\n",
      report.reference.reference ? "plain reference kernels" : "fast kernels",
      reference.perplexity
  );
  BenchTable table(
      {"linear",
       "KV",
       "perplexity",
       "change",
       "mean KL",
       "99 % KL",
       "max KL",
       "same best",
       "logits off by"}
  );
  for (std::size_t idx = 0; idx < report.settings.size(); ++idx) {
    const QualityScore& score = report.result.settings[idx];
    const EngineConfig& config = report.settings[idx];
    table.add(
        {std::string(name_of(config.linear_mode)),
         kv_cache_dtype_name(config.kv_cache_dtype),
         rounded(score.perplexity, 4),
         signed_percent(change_of(score, reference)),
         in_powers(score.mean_kl),
         in_powers(score.p99_kl),
         in_powers(score.max_kl),
         rounded(100.0 * score.same_best, 2) + " %",
         in_powers(score.logits_error)}
    );
  }
  table.print();
}

json::value to_json(const QualityReport& report) {
  json::array settings;
  for (std::size_t idx = 0; idx < report.settings.size(); ++idx) {
    const QualityScore& score = report.result.settings[idx];
    json::object row = score_json(report.settings[idx], score);
    row["perplexity_change_percent"] = change_of(score, report.result.reference);
    row["kl_mean"] = score.mean_kl;
    row["kl_median"] = score.median_kl;
    row["kl_99_percent"] = score.p99_kl;
    row["kl_max"] = score.max_kl;
    row["same_best"] = score.same_best;
    row["logits_error"] = score.logits_error;
    settings.push_back(std::move(row));
  }
  return {
      {"model", report.model},
      {"weight_format", report.weight_format},
      {"text", report.text},
      {"tokens", report.num_tokens},
      {"context_length", report.context_length},
      {"stride", report.stride},
      {"windows", report.num_windows},
      {"predictions", report.result.reference.num_predictions},
      {"seconds", report.seconds},
      {"threads", report.num_threads},
      {"machine", describe_machine()},
      {"reference", score_json(report.reference, report.result.reference)},
      {"settings", std::move(settings)},
  };
}

}  // namespace rapt
