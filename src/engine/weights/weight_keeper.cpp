#include "engine/weights/weight_keeper.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/cpu_info.h"
#include "base/log.h"
#include "engine/weights/pages.h"

namespace rapt {

Result<std::unique_ptr<WeightKeeper>> WeightKeeper::create(
    const EngineConfig& config, Model& model
) {
  std::unique_ptr<WeightKeeper> keeper(new WeightKeeper(config, model));
  if (!config.prepared_dir.empty()) {
    keeper->use_existing();
  }
  if (config.lock_memory) {
    RETURN_IF_ERROR(lock_mapped_memory());
  }
  return keeper;
}

WeightKeeper::~WeightKeeper() {
  stop();
  if (layout_) {
    for (const PreparedPart& part : layout_->parts) {
      part.method->use_prepared(nullptr);
    }
  }
}

void WeightKeeper::use_existing() {
  Result<PreparedLayout> layout = plan_prepared(model_.checkpoint(), model_.linears());
  if (!layout) {
    LOG_WARNING("no prepared weights", kv("why", layout.error().message));
    return;
  }
  if (layout->parts.empty()) {
    LOG_INFO("no prepared weights: this model gains nothing from them");
    return;
  }
  Result<std::optional<MappedFile>> file = open_prepared(folder_, *layout);
  if (!file) {
    LOG_WARNING(
        "the prepared weights are not used; remove the file to have it written again",
        kv("why", file.error().message)
    );
    return;
  }
  layout_ = *std::move(layout);
  if (!file->has_value()) {
    if (!writes_) {
      LOG_INFO("no prepared weights yet: rapt serve writes them", kv("folder", folder_));
    }
    return;
  }
  mapped_ = *std::move(*file);
  for (const PreparedPart& part : layout_->parts) {
    part.method->use_prepared(mapped_->bytes().data() + part.offset);
  }
  is_prepared_ = true;
  LOG_INFO(
      "prepared weights in use", kv("file", mapped_->path()), kv("bytes", mapped_->bytes().size())
  );
}

void WeightKeeper::start(RunBetweenSteps run_between_steps) {
  thread_ = std::thread([this, task = std::move(run_between_steps)] { run(task); });
}

void WeightKeeper::wait() {
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WeightKeeper::stop() {
  should_stop_.store(true);
  wait();
}

void WeightKeeper::run(const RunBetweenSteps& run_between_steps) {
  // Steps wait for pages that are not mapped yet, so beside busy processes this may not starve.
  lower_thread_priority();
  read_all();
  if (writes_ && layout_ && !is_prepared_) {
    lower_thread_priority_most();
    write_copy(run_between_steps);
  }
}

// Everything that steps will read, in the order of the files, a little at a time.
void WeightKeeper::read_all() {
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  std::vector<std::span<const std::byte>> ranges;
  std::uint64_t num_bytes = 0;
  if (is_prepared_) {
    ranges.push_back(mapped_->bytes());
  } else {
    for (const WeightFile& file : model_.checkpoint().files()) {
      ranges.push_back(file.bytes());
    }
  }
  for (const std::span<const std::byte> range : ranges) {
    num_bytes += range.size();
  }
  if (num_bytes > detect_cpu().memory_bytes / 10 * 9) {
    return;  // reading the end would push the beginning out
  }
  for (std::span<const std::byte> range : ranges) {
    while (!range.empty() && !should_stop_.load()) {
      const std::size_t piece = std::min(kPiece, range.size());
      read_pages(range.first(piece));
      range = range.subspan(piece);
    }
  }
}

void WeightKeeper::write_copy(const RunBetweenSteps& run_between_steps) {
  LOG_INFO("writing prepared weights", kv("folder", folder_), kv("bytes", layout_->num_bytes));
  Result<void> written;
  try {
    written = write_parts(run_between_steps);
  } catch (const std::exception& e) {
    written = internal_error(e.what());
  }
  if (written) {
    is_prepared_ = true;
    LOG_INFO("prepared weights in use", kv("file", folder_ + "/" + layout_->file_name));
  } else if (!should_stop_.load()) {
    LOG_WARNING(
        "the prepared weights could not be written; the checkpoint serves on",
        kv("why", written.error().message)
    );
  }
}

// A matrix is used as soon as it is on disk. When a later one cannot be written, those before stay
// in use: the mapping keeps the file's bytes even without its name.
Result<void> WeightKeeper::write_parts(const RunBetweenSteps& run_between_steps) {
  ASSIGN_OR_RETURN(PreparedWriter writer, PreparedWriter::create(folder_, *layout_));
  ASSIGN_OR_RETURN(mapped_, MappedFile::open(writer.path()));
  for (const PreparedPart& part : layout_->parts) {
    RETURN_IF_ERROR(writer.write_part(part, [this] { return should_stop_.load(); }));
    const std::byte* pieces = mapped_->bytes().data() + part.offset;
    if (!run_between_steps([&part, pieces] { part.method->use_prepared(pieces); })) {
      return Error{ErrorCode::kUnavailable, "stopped"};
    }
    for (const std::span<const std::byte> bytes : part.method->stored_bytes()) {
      drop_pages(bytes);
    }
  }
  return writer.finish();
}

}  // namespace rapt
