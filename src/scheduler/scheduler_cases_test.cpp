// Plays the scripts in tests/cases/scheduler; their README.md describes the commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "scheduler/scheduler.h"

namespace rapt {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

std::vector<TokenId> to_tokens(const std::string& text) {
  std::vector<TokenId> tokens;
  for (const std::string& part : split(text, ',')) {
    tokens.push_back(std::stoi(part));
  }
  return tokens;
}

class Script {
 public:
  void play(const std::string& path) {
    std::ifstream in(path);
    ASSERT_TRUE(in) << path;
    int line_number = 0;
    for (std::string line; std::getline(in, line);) {
      ++line_number;
      SCOPED_TRACE(path + ":" + std::to_string(line_number) + ": " + line);
      std::vector<std::string> words;
      std::istringstream line_in(line.substr(0, line.find('#')));
      for (std::string word; line_in >> word;) {
        words.push_back(word);
      }
      if (!words.empty()) {
        const std::string command = words[0];
        words.erase(words.begin());
        run(command, words);
      }
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
    EXPECT_GT(num_steps_, 0) << "the script checks nothing";
  }

 private:
  using Words = std::vector<std::string>;

  void run(const std::string& command, const Words& words) {
    if (command == "cache") {
      make_cache(words);
    } else if (command == "limits") {
      make_scheduler(words);
    } else if (command == "add") {
      add(words);
    } else if (command == "step") {
      step(words);
    } else if (command == "draw") {
      const Words parts = split(words.at(0), '=');
      draws_[parts.at(0)] = to_tokens(parts.at(1));
    } else if (command == "took") {
      step_seconds_ = 1e-3 * std::stoi(words.at(0));
    } else if (command == "error") {
      failing_.push_back(words.at(0));
    } else if (command == "cancel") {
      note_ends(scheduler_->cancel(id_of(words.at(0))));
    } else if (command == "fail") {
      note_ends(scheduler_->fail(id_of(words.at(0)), "the script says so"));
    } else if (command == "ends") {
      EXPECT_EQ(ends_, words == Words{"-"} ? Words{} : words);
      ends_.clear();
    } else if (command == "state") {
      check_state(words);
    } else {
      FAIL() << "unknown command";
    }
  }

  void make_cache(const Words& words) {
    int block_size = 0;
    std::vector<KVGroupSpec> groups;
    std::vector<int> num_blocks;
    for (const std::string& word : words) {
      const Words parts = split(word, '=');
      const Words numbers = split(parts.at(1), ':');
      if (parts[0] == "block") {
        block_size = std::stoi(numbers.at(0));
      } else if (parts[0] == "full") {
        groups.push_back(KVGroupSpec{});
        num_blocks.push_back(std::stoi(numbers.at(0)));
      } else {
        ASSERT_EQ(parts[0], "sliding");
        groups.push_back(
            {.kind = KVGroupKind::kSliding, .window = std::stoi(numbers.at(0)), .num_layers = 1}
        );
        num_blocks.push_back(std::stoi(numbers.at(1)));
      }
    }
    kv_ = std::make_unique<KVCacheManager>(groups, num_blocks, block_size);
  }

  void make_scheduler(const Words& words) {
    SchedulerConfig config;
    int pace_ms = 0;
    for (const std::string& word : words) {
      const Words parts = split(word, '=');
      const std::map<std::string, int*> fields = {
          {"seqs", &config.max_num_seqs},
          {"tokens", &config.max_num_batched_tokens},
          {"len", &config.max_model_len},
          {"pace", &pace_ms},
          {"ride", &config.pace.min_prompt_tokens}};
      *fields.at(parts.at(0)) = std::stoi(parts.at(1));
    }
    config.pace.target_seconds = 1e-3 * pace_ms;
    scheduler_ = std::make_unique<Scheduler>(config, *kv_);
  }

  void add(const Words& words) {
    auto request = std::make_unique<Request>();
    request->id = requests_.size() + 1;
    request->client_id = words.at(0);
    for (std::size_t idx = 1; idx < words.size(); ++idx) {
      const Words parts = split(words[idx], '=');
      const std::vector<TokenId> values = to_tokens(parts.at(1));
      const std::map<std::string, int*> numbers = {
          {"max", &request->stop.max_tokens},
          {"min", &request->stop.min_tokens},
          {"choices", &request->num_choices}};
      if (parts[0] == "prompt") {
        request->prompt.assign(static_cast<std::size_t>(values[0]), 1);
      } else if (parts[0] == "eos") {
        request->stop.eos_token_ids = values;
      } else if (parts[0] == "stop") {
        request->stop.stop_token_ids = values;
      } else if (parts[0] == "ignore_eos") {
        request->stop.ignore_eos = values[0] != 0;
      } else if (parts[0] == "tap") {
        request->logits_tap = [](int, int, std::span<const float>) {};
        request->tap_all_positions = true;
      } else {
        *numbers.at(parts[0]) = values[0];
      }
    }
    for (int choice = 0; choice < request->num_choices; ++choice) {
      scheduler_->add(make_sequence(*request, choice));
    }
    requests_.push_back(std::move(request));
  }

  void step(const Words& words) {
    ++num_steps_;
    const StepPlan& plan = scheduler_->plan();
    Words planned;
    StepResult result;
    std::vector<std::vector<SampledToken>> sampled(plan.slices.size());
    for (std::size_t idx = 0; idx < plan.slices.size(); ++idx) {
      const StepSlice& slice = plan.slices[idx];
      const std::string name = name_of(slice.sequence->request->id, slice.sequence->choice);
      planned.push_back(
          name + ":" + std::to_string(slice.first_position) + "+" +
          std::to_string(slice.num_tokens) + (slice.samples ? "*" : "") +
          (slice.all_logits ? "!" : "")
      );
      SliceResult slice_result;
      if (std::find(failing_.begin(), failing_.end(), name) != failing_.end()) {
        slice_result.error = "the script says so";
      } else if (slice.samples) {
        const auto drawn = draws_.extract(name);
        for (const TokenId token : drawn.empty() ? std::vector<TokenId>{1} : drawn.mapped()) {
          sampled[idx].push_back(SampledToken{.token = token});
        }
        slice_result.tokens = sampled[idx];
      }
      result.slices.push_back(slice_result);
    }
    EXPECT_EQ(planned, words == Words{"-"} ? Words{} : words);
    EXPECT_TRUE(draws_.empty()) << "a draw for someone who draws nothing";
    failing_.clear();
    if (!plan.empty()) {
      note_ends(scheduler_->commit(result, std::exchange(step_seconds_, 0.0)));
    }
  }

  void note_ends(std::span<const TokenEvent> events) {
    for (const TokenEvent& event : events) {
      if (event.finish) {
        ends_.push_back(name_of(event.request_id, event.choice) + ":" + word_of(*event.finish));
      }
    }
  }

  static std::string word_of(const FinishInfo& finish) {
    switch (finish.reason) {
      case FinishReason::kStop:
        return "stop=" + std::to_string(finish.stop_token.value_or(-1));
      case FinishReason::kLength:
        return "length";
      case FinishReason::kAbort:
        return "abort";
      case FinishReason::kError:
        return finish.error.empty() ? "error without a reason" : "error";
    }
    return "?";
  }

  void check_state(const Words& words) const {
    const SchedulerStats stats = scheduler_->stats();
    const std::map<std::string, int> values = {
        {"running", stats.num_running},
        {"waiting", stats.num_waiting},
        {"paused", stats.num_paused},
        {"used", kv_->num_blocks_used()}};
    for (const std::string& word : words) {
      const Words parts = split(word, '=');
      EXPECT_EQ(values.at(parts.at(0)), std::stoi(parts.at(1))) << word;
    }
  }

  std::string name_of(RequestId id, int choice) const {
    const Request& request = *requests_.at(static_cast<std::size_t>(id - 1));
    return request.num_choices == 1 ? request.client_id
                                    : request.client_id + "/" + std::to_string(choice);
  }

  RequestId id_of(const std::string& name) const {
    for (const auto& request : requests_) {
      if (request->client_id == name) {
        return request->id;
      }
    }
    return 0;
  }

  std::vector<std::unique_ptr<Request>> requests_;  // outlive the sequences
  std::unique_ptr<KVCacheManager> kv_;
  std::unique_ptr<Scheduler> scheduler_;
  std::map<std::string, std::vector<TokenId>> draws_;
  Words failing_;
  Words ends_;
  int num_steps_ = 0;
  double step_seconds_ = 0.0;
};

std::vector<std::string> case_paths() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(RAPT_SOURCE_DIR "/tests/cases/scheduler")) {
    if (entry.path().extension() == ".txt") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class SchedulerCases : public ::testing::TestWithParam<std::string> {};

TEST_P(SchedulerCases, PlansAsWritten) {
  Script script;
  script.play(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    SchedulerCases,
    ::testing::ValuesIn(case_paths()),
    [](const auto& info) { return std::filesystem::path(info.param).stem().string(); }
);

}  // namespace
}  // namespace rapt
