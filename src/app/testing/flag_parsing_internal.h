#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/flags.h"

// For tests of the flags: command lines to options or to errors.

namespace rapt {

inline Result<Invocation> parse(
    std::vector<std::string> args, const Environment& environment = {}
) {
  return parse_command_line(args, environment);
}

template <typename Options>
Options parse_as(std::vector<std::string> args, const Environment& environment = {}) {
  const Result<Invocation> invocation = parse(std::move(args), environment);
  EXPECT_TRUE(invocation.has_value()) << (invocation ? "" : invocation.error().message);
  if (!invocation || !std::holds_alternative<Options>(invocation->options)) {
    ADD_FAILURE() << "not the options that were expected";
    return {};
  }
  return std::get<Options>(invocation->options);
}

inline std::string error_of(std::vector<std::string> args, const Environment& environment = {}) {
  const Result<Invocation> invocation = parse(std::move(args), environment);
  EXPECT_FALSE(invocation.has_value());
  return invocation ? "" : invocation.error().message;
}

// A YAML file that is gone when the test is.
class ConfigFile {
 public:
  explicit ConfigFile(std::string_view text)
      : path_(
            ::testing::TempDir() + "rapt_flags_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml"
        ) {
    std::ofstream(path_) << text;
  }

  ~ConfigFile() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rapt
