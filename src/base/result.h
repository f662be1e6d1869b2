#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace rapt {

// What kind of failure an Error is. Each maps to one HTTP status (server/errors.cpp) and one exit
// code (app/main.cpp); pick by who can do something about it.
enum class ErrorCode {
  kInvalidArgument,    // the caller's value is wrong: 400, exit 2
  kBadFile,            // a file on disk is damaged or not what it should be: exit 2
  kUnauthenticated,    // missing or wrong API key: 401
  kNotFound,           // no such model, route or file: 404, exit 2
  kMethodNotAllowed,   // 405
  kPayloadTooLarge,    // 413
  kResourceExhausted,  // the queue is full: 429
  kUnavailable,        // shutting down, or the engine is unhealthy: 503
  kInternal,           // our fault: 500, exit 1
};

// A failure a user can act on. `message` is one sentence: what was wrong, with which value, and
// what would work.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string param = {};   // the request field at fault, "" when there is none
  std::string reason = {};  // machine-readable cause, e.g. "context_length_exceeded"; "" when none
};

inline Error invalid_argument(std::string message, std::string param = {}) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), std::move(param)};
}

inline Error bad_file(std::string message) {
  return Error{ErrorCode::kBadFile, std::move(message)};
}

inline Error not_found(std::string message) {
  return Error{ErrorCode::kNotFound, std::move(message)};
}

inline Error internal_error(std::string message) {
  return Error{ErrorCode::kInternal, std::move(message)};
}

// A value or an Error. The interface is a subset of std::expected<T, Error>, so that it can be
// swapped for it once the compiler has that in C++20 mode.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}

  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }

  explicit operator bool() const { return has_value(); }

  T& value() & {
    CHECK(has_value(), "value() of an error: ", error_message());
    return std::get<0>(state_);
  }

  const T& value() const& {
    CHECK(has_value(), "value() of an error: ", error_message());
    return std::get<0>(state_);
  }

  T&& value() && {
    CHECK(has_value(), "value() of an error: ", error_message());
    return std::get<0>(std::move(state_));
  }

  T& operator*() & { return value(); }

  const T& operator*() const& { return value(); }

  T&& operator*() && { return std::move(*this).value(); }

  T* operator->() { return &value(); }

  const T* operator->() const { return &value(); }

  const Error& error() const& {
    CHECK(!has_value(), "error() of a value");
    return std::get<1>(state_);
  }

  Error&& error() && {
    CHECK(!has_value(), "error() of a value");
    return std::get<1>(std::move(state_));
  }

 private:
  std::string error_message() const {
    return has_value() ? std::string() : std::get<1>(state_).message;
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;

  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }

  explicit operator bool() const { return has_value(); }

  const Error& error() const& {
    CHECK(error_.has_value(), "error() of a value");
    return *error_;
  }

  Error&& error() && {
    CHECK(error_.has_value(), "error() of a value");
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace rapt

#define RAPT_CONCAT_INNER(a, b) a##b
#define RAPT_CONCAT(a, b) RAPT_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Result<void>) from the enclosing function, if it has one.
#define RETURN_IF_ERROR(expr)                 \
  do {                                        \
    auto rapt_result_ = (expr);               \
    if (!rapt_result_) {                      \
      return std::move(rapt_result_).error(); \
    }                                         \
  } while (false)

// ASSIGN_OR_RETURN(auto x, f()): declares x from the value of f(), or returns f()'s error.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(RAPT_CONCAT(rapt_result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                           \
  if (!tmp) {                                  \
    return std::move(tmp).error();             \
  }                                            \
  lhs = std::move(tmp).value()
