#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "checkpoint/mapped_file.h"
#include "engine/engine.h"
#include "engine/weights/prepared_file.h"
#include "models/model.h"

namespace rapt {

// Where a model's weights are read from, and that they are in memory. A thread of low priority
// brings the mapped files in while the engine serves already, and then, if so configured, writes
// the prepared copy and has the model read it matrix by matrix, as each is on disk. What has moved
// is dropped from memory at the old place, so that the two copies never fill it together. Nothing
// that goes wrong with the copy ends serving: a warning, and the checkpoint serves on. Owned by the
// engine, which outlives its thread.
class WeightKeeper {
 public:
  // Runs a function on the engine thread between two steps and returns when it has run; false when
  // the engine is ending and did not run it.
  using RunBetweenSteps = std::function<bool(const std::function<void()>& task)>;

  // Uses the prepared copy that is there, and locks memory, as `config` says. `model` outlives the
  // keeper. Before the engine thread starts.
  static Result<std::unique_ptr<WeightKeeper>> create(const EngineConfig& config, Model& model);

  ~WeightKeeper();
  WeightKeeper(const WeightKeeper&) = delete;
  WeightKeeper& operator=(const WeightKeeper&) = delete;

  // Starts the thread.
  void start(RunBetweenSteps run_between_steps);

  // Waits until the thread has done all it wants to.
  void wait();

  // Ends its work early. Idempotent; the destructor calls it.
  void stop();

  // Whether every matrix that gains from it reads the prepared copy. Not while the thread works.
  bool is_prepared() const { return is_prepared_; }

 private:
  WeightKeeper(const EngineConfig& config, Model& model)
      : folder_(config.prepared_dir), writes_(config.writes_prepared), model_(model) {}

  void use_existing();
  void run(const RunBetweenSteps& run_between_steps);
  void read_all();
  void write_copy(const RunBetweenSteps& run_between_steps);
  Result<void> write_parts(const RunBetweenSteps& run_between_steps);

  std::string folder_;  // "": no prepared copy
  bool writes_;
  Model& model_;
  std::optional<PreparedLayout> layout_;  // absent: no copy is to be used or written
  std::optional<MappedFile> mapped_;      // what the matrices read
  bool is_prepared_ = false;
  std::thread thread_;
  std::mutex join_mutex_;
  std::atomic<bool> should_stop_{false};
};

}  // namespace rapt
