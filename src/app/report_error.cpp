#include <cstdio>
#include <string>

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
  // What a user typed or a file holds is quoted in messages; it must not steer the terminal.
  std::string text;
  for (const char c : error.message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      constexpr char kHex[] = "0123456789abcdef";
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += c;
    }
  }
  std::fprintf(stderr, "rapt: %s\n", text.c_str());
  return exit_code_of(error);
}

}  // namespace rapt
