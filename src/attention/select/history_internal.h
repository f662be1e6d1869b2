#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/select/explain.h"

// What other engines did with attention backends, release by release, as data. Every fact was read
// in the engine's source or in its public threads; numbers are those of pull requests ("#25489")
// and of threads. The data is in history_*.cpp.

namespace rapt {

// major.minor.patch
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

std::optional<Version> parse_version(std::string_view text);
std::string version_text(const Version& version);

// A kind of device as a release told them apart.
struct ForeignGroup {
  std::string_view id;
  std::string_view label;    // "H100, H200, GH200 (SM 9.0)"
  std::string_view devices;  // blank-separated compute capabilities, or "cpu"; "" for none of ours
};

// What became of some names on some groups with gpt-oss. The first rule that fits counts.
struct ForeignRule {
  std::string_view names;   // canonical names, blank-separated; "unset": without a name; "*": any
  std::string_view groups;  // ids of ForeignGroup; "*": any
  ForeignOutcome outcome = ForeignOutcome::kFails;
  std::string_view text;
  std::string_view sources = {};  // "#22714 #28561", blank-separated
};

// The releases of an engine between which nothing relevant changed.
struct ForeignRelease {
  std::string_view engine;  // "vLLM"
  Version first = {};
  Version last = {};       // both included
  std::string_view names;  // the names it accepts, blank-separated; "" when not recorded
  std::string_view given;  // how a name is given, and what becomes of wrong ones
  std::string_view right_answer;
  std::span<const ForeignGroup> groups = {};  // empty: what ran where is not recorded
  std::span<const ForeignRule> rules = {};
  std::string_view sources = {};
};

std::span<const ForeignRelease> vllm_releases();   // ascending, without gaps
std::span<const ForeignRelease> other_releases();  // SGLang, TensorRT-LLM, llama.cpp: one each

// vLLM 0.11.0 and the newest: where each name ran (history_vllm_0_11.cpp, history_vllm_newest.cpp).
std::span<const ForeignGroup> vllm_0_11_groups();
std::span<const ForeignRule> vllm_0_11_rules();
std::span<const ForeignGroup> vllm_newest_groups();
std::span<const ForeignRule> vllm_newest_rules();

// Something that happened to a name or to all of them.
struct HistoryEvent {
  std::string_view names;    // canonical names, blank-separated; "*": of interest for any
  std::string_view date;     // "2025-09-25"
  std::string_view release;  // "0.11.0"
  std::string_view text;
  std::string_view source;  // "#25489"; "" for none
};

std::span<const HistoryEvent> history_events();

}  // namespace rapt
