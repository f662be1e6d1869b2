#pragma once

#include <sstream>
#include <string>

namespace rapt {

// Prints "file:line: CHECK failed: condition; values" to stderr and aborts.
[[noreturn]] void check_failed(
    const char* file, int line, const char* condition, const std::string& details
);

template <typename... Parts>
std::string concat_for_check(const Parts&... parts) {
  std::ostringstream out;
  static_cast<void>((out << ... << parts));
  return out.str();
}

}  // namespace rapt

// CHECK(condition, values...): a claim about our own code. A failure is a bug in Rapt, never a bad
// input: bad input is an Error (base/result.h).
#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) [[unlikely]] {                                                               \
      ::rapt::check_failed(__FILE__, __LINE__, #condition, ::rapt::concat_for_check(__VA_ARGS__)); \
    }                                                                                              \
  } while (false)

// The same, in debug builds only: for checks inside hot loops.
#ifdef NDEBUG
#define DCHECK(condition, ...) \
  do {                         \
  } while (false)
#else
#define DCHECK(condition, ...) CHECK(condition, __VA_ARGS__)
#endif
