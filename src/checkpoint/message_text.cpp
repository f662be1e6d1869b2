#include <cerrno>
#include <system_error>
#include <utility>

#include "checkpoint/message_text_internal.h"

namespace rapt {

namespace {

constexpr std::size_t kMaxShownBytes = 96;

// At most kMaxShownBytes of UTF-8, not cut inside a character.
std::string shortened(std::string_view text) {
  if (text.size() <= kMaxShownBytes) {
    return std::string(text);
  }
  std::size_t end = kMaxShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, shortened(text));
  return out;
}

std::string shown_json(const json::value& value) {
  if (value.is_string()) {
    return in_quotes(value.get_string());
  }
  return shortened(to_json_text(value));
}

Error path_error(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
      return not_found(path + " does not exist");
    case EACCES:
    case EPERM:
      return bad_file(path + " may not be read by this user: permission denied");
    case ELOOP:
      return bad_file(path + " cannot be opened: its symbolic links form a loop");
    case ENOTDIR:
      return bad_file(path + " cannot be opened: a part of the path is not a folder");
    case ENOMEM:
      return bad_file(path + " cannot be mapped: the address space or its limit is used up");
    default:
      return bad_file(path + " cannot be opened: " + std::generic_category().message(error_number));
  }
}

Error as_bad_file(Error error) {
  error.code = ErrorCode::kBadFile;
  return error;
}

}  // namespace rapt
