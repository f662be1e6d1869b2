#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/selftest.h"
#include "attention/selftest.h"
#include "base/cpu_info.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "quant/selftest.h"
#include "tensor/stream.h"

namespace rapt {

namespace {

// One check of one kernel at one level.
struct Row {
  std::string kernel;
  CpuLevel level = CpuLevel::kScalar;
  int num_cases = 0;
  int num_passed = 0;
  double max_error = 0.0;
  double limit = 0.0;
  std::string worst_case = {};  // "" when all passed

  bool passed() const { return num_passed == num_cases; }
};

std::vector<Row> check_attention(ThreadPool& pool, CpuLevel level, bool is_full) {
  const AttentionModel model = find_attention_preset("openai/gpt-oss-20b").value();
  const ProbeExtent extent = is_full ? ProbeExtent::kFull : ProbeExtent::kQuick;
  std::vector<Row> rows;
  for (const AttentionCheck& check : selftest_attention(pool, level, model, extent)) {
    rows.push_back(Row{
        .kernel = std::string(check.backend) + " " + std::string(check.variant) + ", " +
                  std::string(name_of(check.slot)) + ", KV " + std::string(name_of(check.kv_type)),
        .level = level,
        .num_cases = check.report.num_cases,
        .num_passed = check.report.num_passed,
        .max_error = check.report.max_error,
        .limit = check.report.limit,
        .worst_case = check.report.worst_case,
    });
  }
  return rows;
}

std::vector<Row> check_linears(ThreadPool& pool, CpuLevel level, bool /*is_full*/) {
  std::vector<Row> rows;
  for (const LinearCheck& check : selftest_linears(pool, level)) {
    rows.push_back(Row{
        .kernel = "linear " + check.kernel,
        .level = level,
        .num_cases = check.num_cases,
        .num_passed = check.num_passed,
        .worst_case = check.worst_case,
    });
  }
  return rows;
}

// What is checked. A new part is a function here.
struct Part {
  const char* name;
  std::vector<Row> (*check)(ThreadPool& pool, CpuLevel level, bool is_full);
};

constexpr Part kParts[] = {
    {"attention", check_attention},
    {"linears", check_linears},
};

void print_row(const Row& row) {
  std::printf(
      "%-10s %-52s %4d/%-4d %9.1e %9.1e  %s\n",
      std::string(name_of(row.level)).c_str(),
      row.kernel.c_str(),
      row.num_passed,
      row.num_cases,
      row.max_error,
      row.limit,
      row.passed() ? "ok" : ("FAILED: " + row.worst_case).c_str()
  );
  std::fflush(stdout);
}

json::object json_of(const Part& part, const Row& row) {
  return {
      {"part", part.name},
      {"kernel", row.kernel},
      {"level", name_of(row.level)},
      {"cases", row.num_cases},
      {"passed", row.num_passed},
      {"max_error", row.max_error},
      {"limit", row.limit},
      {"worst_case", row.worst_case},
  };
}

}  // namespace

bool run_selftest(const SelftestOptions& options, bool only_attention) {
  const CpuInfo cpu = detect_cpu();
  ThreadPool pool(options.num_threads > 0 ? options.num_threads : cpu.num_usable_cores);
  json::array levels;
  json::array checks;
  std::string names;
  for (const CpuLevel level : runnable_cpu_levels()) {
    levels.emplace_back(name_of(level));
    names += (names.empty() ? "" : ", ") + std::string(name_of(level));
  }
  if (!options.json) {
    std::printf("%s: CPU levels %s\n\n", cpu.model_name.c_str(), names.c_str());
    std::printf("%-10s %-52s %9s %9s %9s\n", "level", "kernel", "passed", "max error", "limit");
  }
  bool is_good = true;
  for (const CpuLevel level : runnable_cpu_levels()) {
    for (const Part& part : kParts) {
      if (only_attention && std::string_view(part.name) != "attention") {
        continue;
      }
      for (const Row& row : part.check(pool, level, options.full)) {
        is_good = is_good && row.passed();
        checks.push_back(json_of(part, row));
        if (!options.json) {
          print_row(row);
        }
      }
    }
  }
  if (options.json) {
    const json::value report = {
        {"ok", is_good}, {"cpu", cpu.model_name}, {"levels", levels}, {"checks", checks}};
    std::printf("%s\n", to_json_text(report).c_str());
  } else {
    std::printf("\n%s\n", is_good ? "all passed" : "some FAILED: please report this");
  }
  return is_good;
}

int selftest_main(const SelftestOptions& options) {
  return run_selftest(options, false) ? 0 : 1;
}

}  // namespace rapt
