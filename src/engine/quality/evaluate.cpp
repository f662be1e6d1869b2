#include "engine/quality/evaluate.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/cpu_info.h"
#include "engine/quality/model_pass.h"

namespace rapt {

namespace {

// Rows of logits that are compared at once. Enough for the output head to be read seldom, and 26 MB
// of the reference's logits and as much of a setting's with a vocabulary of 200,000.
constexpr int kRowsAtOnce = 32;

class Evaluation {
 public:
  Evaluation(const Model& model, ThreadPool& pool, const QualityTask& task)
      : model_(model),
        pool_(pool),
        task_(task),
        rows_(kRowsAtOnce, ReferenceRow(static_cast<std::size_t>(model.info().vocab_size))),
        scores_(task.settings.size() + 1) {}

  Result<void> prepare() {
    ASSIGN_OR_RETURN(
        std::unique_ptr<ModelPass> pass,
        ModelPass::create(task_.reference, model_, pool_, kRowsAtOnce)
    );
    passes_.push_back(std::move(pass));
    for (const EngineConfig& setting : task_.settings) {
      ASSIGN_OR_RETURN(pass, ModelPass::create(setting, model_, pool_, kRowsAtOnce));
      passes_.push_back(std::move(pass));
    }
    return {};
  }

  Result<void> run(const TextWindow& window) {
    for (const auto& pass : passes_) {
      pass->begin();
      if (!task_.begin.empty()) {
        pass->forward(task_.begin);
      }
    }
    // The last token is predicted only, and predicts nothing that is known.
    for (int begin = window.begin; begin < window.end - 1; begin += chunk_size()) {
      const int end = std::min(window.end - 1, begin + chunk_size());
      const auto first = static_cast<std::size_t>(begin);
      for (const auto& pass : passes_) {
        pass->forward(task_.tokens.subspan(first, static_cast<std::size_t>(end - begin)));
      }
      for (int row = std::max(begin, window.first_scored - 1); row < end; row += kRowsAtOnce) {
        RETURN_IF_ERROR(compare_rows(begin, row, std::min(kRowsAtOnce, end - row)));
      }
      if (task_.on_progress) {
        task_.on_progress(static_cast<int>(scores_.front().size()));
      }
    }
    return {};
  }

  QualityResult result() const {
    QualityResult result;
    result.reference = summarize(scores_.front());
    for (std::size_t idx = 1; idx < scores_.size(); ++idx) {
      result.settings.push_back(summarize(scores_[idx]));
    }
    return result;
  }

 private:
  int chunk_size() const { return task_.reference.max_num_batched_tokens; }

  // Tokens [first, first + count) of the text, whose chunk begins at `chunk_begin`.
  Result<void> compare_rows(int chunk_begin, int first, int count) {
    const std::int64_t vocab_size = model_.info().vocab_size;
    for (std::size_t idx = 0; idx < passes_.size(); ++idx) {
      const Tensor logits = passes_[idx]->logits(first - chunk_begin, count);
      std::vector<RowScore>& scores = scores_[idx];
      const std::size_t num_before = scores.size();
      scores.resize(num_before + static_cast<std::size_t>(count));
      pool_.parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::span<const float> values(
              logits.rows(row, 1).f32(), static_cast<std::size_t>(vocab_size)
          );
          ReferenceRow& reference = rows_[static_cast<std::size_t>(row)];
          if (idx == 0) {
            reference.set(values);
          }
          const auto target = static_cast<std::size_t>(first + row + 1);
          scores[num_before + static_cast<std::size_t>(row)] =
              reference.compare(values, task_.tokens[target]);
        }
      });
      const auto bad = std::find_if(
          scores.begin() + static_cast<std::ptrdiff_t>(num_before),
          scores.end(),
          [](const RowScore& score) { return !score.is_finite; }
      );
      if (bad != scores.end()) {
        const auto row = bad - scores.begin() - static_cast<std::ptrdiff_t>(num_before);
        return internal_error(
            "the logits behind token " + std::to_string(first + row + 1) +
            " of the text are not finite, with " + (idx == 0 ? "the reference" : "--linear-mode ") +
            (idx == 0 ? "" : std::string(name_of(task_.settings[idx - 1].linear_mode)))
        );
      }
    }
    return {};
  }

  const Model& model_;
  ThreadPool& pool_;
  const QualityTask& task_;
  std::vector<std::unique_ptr<ModelPass>> passes_;  // the reference's, then the settings'
  std::vector<ReferenceRow> rows_;
  std::vector<std::vector<RowScore>> scores_;  // as `passes_`, a score a prediction
};

}  // namespace

Result<QualityResult> evaluate_quality(
    const Model& model, ThreadPool& pool, const QualityTask& task
) {
  for (const std::span<const std::int32_t> tokens : {task.begin, task.tokens}) {
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= model.info().vocab_size) {
        return invalid_argument(
            "the text has the token id " + std::to_string(token) +
            ", but the model's vocabulary has " + std::to_string(model.info().vocab_size) +
            " tokens"
        );
      }
    }
  }
  set_compute_float_mode();
  Evaluation evaluation(model, pool, task);
  RETURN_IF_ERROR(evaluation.prepare());
  for (const TextWindow& window : task.windows) {
    RETURN_IF_ERROR(evaluation.run(window));
  }
  return evaluation.result();
}

}  // namespace rapt
