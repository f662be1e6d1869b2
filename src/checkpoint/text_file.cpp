#include "checkpoint/text_file.h"

#include "checkpoint/mapped_file.h"
#include "checkpoint/message_text_internal.h"

namespace rapt {

Result<std::string> read_text_file(const std::string& path, std::int64_t max_bytes) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() > static_cast<std::size_t>(max_bytes)) {
    return bad_file(
        path + " is " + std::to_string(bytes.size()) + " bytes long; expected at most " +
        std::to_string(max_bytes)
    );
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<json::value> read_json_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
  Result<json::value> value = parse_json(text, path);
  if (!value) {
    return as_bad_file(std::move(value).error());
  }
  return value;
}

}  // namespace rapt
