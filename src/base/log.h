#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

// Logging: one line an event, the event's name first, then key=value pairs.
//   LOG_INFO("engine started", kv("blocks", n), kv("bytes", b));
// Thread-safe. Goes to stderr, so that stdout stays free for a command's output.

namespace rapt {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

struct LogField {
  std::string_view key;
  std::string value;
};

// A field of a log line. Text with blanks, quotes or control characters is printed quoted.
LogField kv(std::string_view key, std::string_view value);
LogField kv(std::string_view key, double value);
LogField kv(std::string_view key, long long value);
LogField kv(std::string_view key, unsigned long long value);
LogField kv(std::string_view key, bool value);

template <typename Int>

requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>) LogField
    kv(std::string_view key, Int value) {
  if constexpr (std::is_signed_v<Int>) {
    return kv(key, static_cast<long long>(value));
  } else {
    return kv(key, static_cast<unsigned long long>(value));
  }
}

inline LogField kv(std::string_view key, const char* value) {
  return kv(key, std::string_view(value));
}

inline LogField kv(std::string_view key, const std::string& value) {
  return kv(key, std::string_view(value));
}

void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

}  // namespace rapt

#define RAPT_LOG(level, event, ...)                   \
  do {                                                \
    if (::rapt::log_enabled(level)) {                 \
      ::rapt::log_event(level, event, {__VA_ARGS__}); \
    }                                                 \
  } while (false)

#define LOG_DEBUG(event, ...) RAPT_LOG(::rapt::LogLevel::kDebug, event, __VA_ARGS__)
#define LOG_INFO(event, ...) RAPT_LOG(::rapt::LogLevel::kInfo, event, __VA_ARGS__)
#define LOG_WARNING(event, ...) RAPT_LOG(::rapt::LogLevel::kWarning, event, __VA_ARGS__)
#define LOG_ERROR(event, ...) RAPT_LOG(::rapt::LogLevel::kError, event, __VA_ARGS__)
