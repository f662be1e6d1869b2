#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "app/attention_setup.h"
#include "app/commands.h"
#include "app/eval_quality_report.h"
#include "app/input_file.h"
#include "app/loaded_model.h"
#include "app/tokenizer_source.h"
#include "base/cpu_info.h"
#include "engine/quality/evaluate.h"
#include "models/model.h"

// `rapt eval-quality`: what each linear mode and KV cache type costs. The computation is
// engine/quality's; here the text becomes tokens, the flags configurations, and the result a table.

namespace rapt {

namespace {

using Clock = std::chrono::steady_clock;

// More would take days, and a score a token and setting is kept.
constexpr std::size_t kMaxTextTokens = 1 << 20;

// One line on the terminal that counts up; nothing where stderr is a file.
class ProgressLine {
 public:
  explicit ProgressLine(int num_predictions)
      : num_predictions_(num_predictions), is_shown_(isatty(STDERR_FILENO) == 1) {}

  ~ProgressLine() {
    if (is_shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }

  void show(int num_scored) const {
    if (!is_shown_) {
      return;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double left =
        num_scored == 0 ? 0.0 : seconds * (num_predictions_ - num_scored) / num_scored;
    std::fprintf(
        stderr,
        "\r\033[K%d of %d predictions, %.0f s, about %.0f s left",
        num_scored,
        num_predictions_,
        seconds,
        left
    );
    std::fflush(stderr);
  }

 private:
  Clock::time_point begin_ = Clock::now();
  int num_predictions_;
  bool is_shown_;
};

struct EvalText {
  std::vector<TokenId> begin;  // what the model's tokenizer puts before a text
  std::vector<TokenId> tokens;
};

Result<EvalText> read_tokens(
    const EvalQualityOptions& options, const std::string& path, const ModelInfo& info
) {
  EvalText eval_text;
  std::vector<TokenId>& tokens = eval_text.tokens;
  if (options.token_ids.has_value()) {
    tokens = *options.token_ids;
  } else {
    ASSIGN_OR_RETURN(const auto tokenizer, load_model_tokenizer(path, info));
    if (!tokenizer) {
      return invalid_argument(
          options.load.model + " has no tokenizer: give --token-ids-file instead of --text"
      );
    }
    ASSIGN_OR_RETURN(const std::string text, read_input_file(options.text_file, "--text"));
    tokens = tokenizer->encode(text);
    eval_text.begin = tokenizer->prompt_frame().begin;
  }
  if (tokens.size() > kMaxTextTokens) {
    return invalid_argument(
        "the text has " + std::to_string(tokens.size()) + " tokens, more than " +
        std::to_string(kMaxTextTokens) + "; use a part of it"
    );
  }
  if (options.max_tokens > 0 && tokens.size() > static_cast<std::size_t>(options.max_tokens)) {
    tokens.resize(static_cast<std::size_t>(options.max_tokens));
  }
  if (tokens.size() < 2) {
    return invalid_argument(
        "the text has " + std::to_string(tokens.size()) +
        " tokens; at least 2 are needed for one to be predicted"
    );
  }
  return eval_text;
}

// The command's configuration with that mode and type, and the attention that goes with them.
Result<EngineConfig> configure(
    const EvalQualityOptions& options,
    const std::string& path,
    LinearMode mode,
    DType kv_dtype,
    bool plain
) {
  LoadOptions load = options.load;
  load.engine.linear_mode = mode;
  load.engine.kv_cache_dtype = kv_dtype;
  load.engine.reference = plain;
  load.engine.max_model_len = options.context_length;
  if (plain) {
    load.engine.cpu_level = std::nullopt;
  }
  ASSIGN_OR_RETURN(load.engine.attention, choose_for_command(load, path));
  return load.engine;
}

Result<void> eval_quality(const EvalQualityOptions& options) {
  set_log_level(options.load.log_level);
  QualityReport report;
  ASSIGN_OR_RETURN(report.model, find_model_folder(options.load.model));
  const std::string& path = report.model;
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, load_model(path));
  report.weight_format = model->info().weight_format;
  if (options.context_length > model->info().max_model_len) {
    return invalid_argument(
        "--context-length is " + std::to_string(options.context_length) +
        ", but the model was made for " + std::to_string(model->info().max_model_len) +
        " positions at most"
    );
  }
  ASSIGN_OR_RETURN(const EvalText text, read_tokens(options, path, model->info()));
  const auto num_before = static_cast<int>(text.begin.size());
  if (options.context_length < num_before + 2) {
    return invalid_argument(
        "--context-length is " + std::to_string(options.context_length) + ", but " +
        std::to_string(num_before) +
        " of them are what this model's texts begin with; give at least " +
        std::to_string(num_before + 2)
    );
  }
  ASSIGN_OR_RETURN(
      report.reference,
      configure(options, path, LinearMode::kF32, DType::kF32, options.plain_reference)
  );
  for (const DType kv_dtype : options.kv_cache_dtypes) {
    for (const LinearMode mode : options.linear_modes) {
      ASSIGN_OR_RETURN(EngineConfig config, configure(options, path, mode, kv_dtype, false));
      report.settings.push_back(std::move(config));
    }
  }
  report.text = options.token_ids.has_value() ? "token ids" : options.text_file;
  report.num_tokens = static_cast<int>(text.tokens.size());
  report.context_length = options.context_length;
  const int window_size = options.context_length - num_before;
  report.stride = options.stride > 0 ? std::min(options.stride, window_size) : window_size;
  report.num_threads = options.load.engine.num_threads > 0 ? options.load.engine.num_threads
                                                           : detect_cpu().num_usable_cores;
  QualityTask task;
  task.tokens = text.tokens;
  task.begin = text.begin;
  task.windows = split_into_windows(report.num_tokens, window_size, report.stride);
  task.reference = report.reference;
  task.settings = report.settings;
  report.num_windows = static_cast<int>(task.windows.size());
  ThreadPool pool(report.num_threads);
  const Clock::time_point begin = Clock::now();
  {
    const ProgressLine progress(num_scored(task.windows));
    task.on_progress = [&](int num_done) { progress.show(num_done); };
    ASSIGN_OR_RETURN(report.result, evaluate_quality(*model, pool, task));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (options.json) {
    std::printf("%s\n", to_json_text(to_json(report)).c_str());
  } else {
    print_report(report);
  }
  return {};
}

}  // namespace

int eval_quality_main(const EvalQualityOptions& options) {
  const Result<void> result = eval_quality(options);
  return result ? 0 : report_error(result.error());
}

}  // namespace rapt
