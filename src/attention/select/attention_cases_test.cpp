// Plays the cases in tests/cases/attention; their README.md describes the format.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "attention/select/explain.h"
#include "attention/select/select_test_support.h"
#include "attention/select/text_internal.h"

namespace rapt {
namespace {

struct Case {
  std::string command;  // behind the "> "
  std::string expected;
};

struct CaseFile {
  std::string comment;  // what stands before the first case
  std::vector<Case> cases;
};

CaseFile read_cases(const std::filesystem::path& path) {
  CaseFile file;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("> ")) {
      file.cases.push_back({line.substr(2), ""});
    } else if (file.cases.empty()) {
      file.comment += line + "\n";
    } else if (!line.empty()) {
      file.cases.back().expected += line + "\n";
    }
  }
  return file;
}

Result<AttentionPlan> make_plan(const std::vector<std::string>& parts) {
  const std::vector<std::string_view> words = words_of(parts.front());
  std::vector<AttentionSetting> settings;
  for (std::size_t idx = 1; idx < parts.size(); ++idx) {
    settings.push_back(test_setting(parts[idx]));
  }
  return select_attention({
      .model = find_attention_preset(words.at(1)).value(),
      .device = test_device(words.at(2)),
      .settings = settings,
      .backends = test_backends(),
  });
}

// Each backend's standing in each slot: a kernel's name, or the codes of what is against it.
std::string standings_text(const AttentionPlan& plan) {
  std::string text;
  for (const BackendStanding& standing : plan.table) {
    text += std::string(standing.backend->name) + ":";
    for (const SlotStanding& slot : standing.slots) {
      text += " ";
      if (slot.is_valid()) {
        text += std::string(slot.variant->name);
      }
      for (const Reason& reason : slot.reasons) {
        text += std::string(&reason == &slot.reasons.front() ? "" : "+") +
                std::string(name_of(reason.code));
      }
      text += index_of(AttentionSlot::kDecodeSliding) > &slot - standing.slots.data() ? "," : "";
    }
    text += "\n";
  }
  return text;
}

std::string play_explain(const std::vector<std::string_view>& words) {
  ExplainRequest request = {
      .name = std::string(words.at(1)),
      .target = words.size() > 2 ? std::string(words[2]) : "",
      .model = find_attention_preset("gpt-oss-20b").value(),
      .host = test_host(),
      .backends = test_backends(),
  };
  if (words.size() > 3) {
    request.device = test_device(words[3]);
  }
  const Result<Explanation> explanation = explain_attention_name(request);
  if (!explanation) {
    return "error: " + explanation.error().message + "\n";
  }
  std::string text;
  for (const ForeignRow& row : explanation->rows) {
    text += row.device + ": " + std::string(name_of(row.outcome)) + ": " + row.text + "\n";
  }
  if (!explanation->right_answer.empty()) {
    text += "right answer: " + explanation->right_answer + "\n";
  }
  for (const HereRow& row : explanation->here) {
    text += "here " + row.device + ": " + row.text + "\n";
  }
  return text;
}

std::string play(const std::string& command) {
  std::vector<std::string> parts = split(command, '|');
  const std::vector<std::string_view> words = words_of(parts.front());
  if (words.front() == "explain") {
    return play_explain(words);
  }
  const Result<AttentionPlan> plan = make_plan(parts);
  if (!plan) {
    return "error: " + plan.error().message + "\n";
  }
  if (words.front() == "standings") {
    return startup_line(*plan) + "\n" + standings_text(*plan);
  }
  if (words.front() == "messages") {
    return "runs " + backend_of(*plan) + "\n" + messages_of(*plan);
  }
  return "unknown command\n";
}

TEST(AttentionCases, GiveWhatTheyAlwaysGave) {
  const bool rewrites = getenv("RAPT_REWRITE_CASES") != nullptr;
  int num_cases = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(RAPT_SOURCE_DIR "/tests/cases/attention")) {
    if (entry.path().extension() != ".txt") {
      continue;
    }
    const CaseFile file = read_cases(entry.path());
    std::string rewritten = file.comment;
    for (const Case& one : file.cases) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + one.command);
      const std::string got = play(one.command);
      if (!rewrites) {
        EXPECT_EQ(got, one.expected);
      }
      rewritten += "> " + one.command + "\n" + got + "\n";
      ++num_cases;
    }
    if (rewrites) {
      rewritten.pop_back();
      std::ofstream(entry.path()) << rewritten;
    }
  }
  EXPECT_GE(num_cases, 60);
}

}  // namespace
}  // namespace rapt
