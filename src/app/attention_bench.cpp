#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "app/attention_setup.h"
#include "app/commands.h"
#include "attention/calibrate.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "engine/attention_choice.h"
#include "kernels/peaks.h"

namespace rapt {

namespace fs = std::filesystem;

namespace {

// Through a second file, so that nobody ever reads half of it.
Result<void> write_whole(const std::string& path, const std::string& text) {
  std::error_code status;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    fs::create_directories(folder, status);
  }
  const std::string draft = path + ".new";
  {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) {
      return invalid_argument(draft + " cannot be written; name another file");
    }
  }
  fs::rename(draft, path, status);
  if (status) {
    return invalid_argument(path + " cannot be written: " + status.message());
  }
  return {};
}

void print_table(const Calibration& calibration) {
  std::printf(
      "%s, %s, %d threads: %.1f GB/s, %.1f GFLOP/s fp32\n\n",
      calibration.device.c_str(),
      calibration.level.c_str(),
      calibration.num_workers,
      calibration.bandwidth_gbs,
      calibration.peak_tflops * 1e3
  );
  std::printf(
      "%-10s %-10s %-16s %10s %12s %10s\n",
      "backend",
      "kernel",
      "slot",
      "call us",
      "of memory",
      "of fp32"
  );
  for (const Calibration::Entry& entry : calibration.entries) {
    std::printf(
        "%-10s %-10s %-16s %10.1f %10.1f %% %8.1f %%\n",
        entry.backend.c_str(),
        entry.variant.c_str(),
        std::string(name_of(entry.slot)).c_str(),
        entry.fixed_us,
        entry.bandwidth_share * 100.0,
        entry.compute_share * 100.0
    );
  }
}

}  // namespace

Result<void> bench_attention(const AttentionOptions& options, const AttentionModel& model) {
  const std::string path =
      options.calibration_file.empty() ? calibration_path() : options.calibration_file;
  if (path.empty()) {
    return invalid_argument(
        "neither HOME nor XDG_CACHE_HOME is set, so there is no place for the measurements; name a "
        "file with --calibration-file"
    );
  }
  ASSIGN_OR_RETURN(const HostFacts host, host_facts(options.engine));
  ASSIGN_OR_RETURN(const DeviceFacts device, find_attention_device(options.device, host));
  if (device.is_simulated || device.kind != DeviceKind::kCpu) {
    return invalid_argument(
        "--device " + options.device + " is simulated here, and only what is there can be measured"
    );
  }
  ThreadPool pool(host.num_threads);
  ASSIGN_OR_RETURN(const Peak bandwidth, measure_read_gbps(pool));
  const DevicePeaks peaks{
      .bandwidth_gbs = bandwidth.median,
      .tflops = measure_fma_gflops(pool, host.level).median / 1e3,
  };
  const Calibration calibration =
      calibrate_attention(Stream{&pool, host.level}, model, device, peaks);
  const std::string text = calibration_text(calibration);
  RETURN_IF_ERROR(write_whole(path, text));
  if (options.json) {
    std::printf("%s\n", text.c_str());
  } else {
    print_table(calibration);
    std::printf("\nkept in %s; later choices on this machine use it\n", path.c_str());
  }
  return {};
}

}  // namespace rapt
