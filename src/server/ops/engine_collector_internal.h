#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace rapt {

struct EngineStats;

// The engine's snapshot as metric families under vLLM's names.
std::vector<prometheus::MetricFamily> collect_engine_stats(
    const EngineStats& stats, const std::string& model_name
);

}  // namespace rapt
