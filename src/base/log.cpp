#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace rapt {

namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto created = std::make_shared<spdlog::logger>(
        "rapt", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()
    );
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    created->flush_on(spdlog::level::info);
    return created;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

bool is_plain(std::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 127) {
      return false;
    }
  }
  return !text.empty();
}

// Control characters never reach the terminal as they are: a log line stays one line.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 127) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

LogField kv(std::string_view key, std::string_view value) {
  return {key, is_plain(value) ? std::string(value) : quoted(value)};
}

LogField kv(std::string_view key, double value) {
  return {key, fmt::format("{:.6g}", value)};
}

LogField kv(std::string_view key, long long value) {
  return {key, std::to_string(value)};
}

LogField kv(std::string_view key, unsigned long long value) {
  return {key, std::to_string(value)};
}

LogField kv(std::string_view key, bool value) {
  return {key, value ? "true" : "false"};
}

void set_log_level(LogLevel level) {
  logger().set_level(to_spdlog(level));
}

bool log_enabled(LogLevel level) {
  return logger().should_log(to_spdlog(level));
}

void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += field.value;
  }
  logger().log(to_spdlog(level), "{}", line);
}

}  // namespace rapt
