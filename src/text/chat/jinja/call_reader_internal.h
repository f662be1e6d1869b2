#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rapt::jinja {

// Reads one call that a model writes as a JSON object, {"name": "f", "arguments": {...}} (or
// "parameters"), as it comes: the name as soon as it stands there, then the arguments byte by byte.
// Tolerant: what is no JSON inside the arguments is left as it is.
class CallReader {
 public:
  CallReader() = default;

  // The name is known already, and what comes is the arguments alone.
  explicit CallReader(std::string name) : name_(std::move(name)), phase_(Phase::kValueBegin) {
    key_ = "arguments";
    is_bare_ = true;
  }

  // Reads up to the end of the object, and says how many bytes that took. A byte that cannot belong
  // to it is left alone.
  std::size_t push(std::string_view text);

  // Nothing until it is known.
  const std::optional<std::string>& name() const { return name_; }

  // What has become certain of the arguments since the last time.
  std::string take_arguments();

  bool is_done() const { return phase_ == Phase::kDone; }

  // True when this is no such object.
  bool is_broken() const { return phase_ == Phase::kBroken; }

  // All that was read.
  const std::string& raw() const { return raw_; }

 private:
  enum class Phase {
    kBegin,       // before the brace
    kKeyBegin,    // before a key, or the closing brace
    kKey,         // inside a key
    kColon,       // behind it
    kValueBegin,  // before a value
    kValue,       // inside one
    kValueEnd,    // behind one
    kDone,
    kBroken,
  };

  // Takes one byte; false when the byte belongs to what comes behind the object.
  void take(char c);
  void begin_value(char c);
  // Returns false when `c` is behind the value.
  bool take_in_value(char c);
  void end_value();

  bool is_arguments() const { return key_ == "arguments" || key_ == "parameters"; }

  std::optional<std::string> name_;
  Phase phase_ = Phase::kBegin;
  std::string raw_;
  std::string key_;
  std::string value_;  // raw, of what is not streamed
  bool is_bare_ = false;
  bool is_streamed_ = false;  // the value goes out as it comes
  bool is_in_string_ = false;
  bool is_escaped_ = false;
  int depth_ = 0;
  std::string arguments_;  // not taken yet
  bool has_arguments_ = false;
};

}  // namespace rapt::jinja
