#include <cstdio>

#include "app/commands.h"

namespace rapt {

int exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadFile:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kNotFound:
    case ErrorCode::kMethodNotAllowed:
    case ErrorCode::kPayloadTooLarge:
      return 2;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kInternal:
      return 1;
  }
  return 1;
}

int report_error(const Error& error) {
  std::fprintf(stderr, "rapt: %s\n", error.message.c_str());
  return exit_code_of(error);
}

}  // namespace rapt
