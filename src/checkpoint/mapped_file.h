#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace rapt {

// A regular file mapped read-only into memory, unmapped on destruction. Moving it moves no bytes:
// views of them stay valid. The bytes are read from disk when they are first touched; a file that
// another process shortens meanwhile kills this one with SIGBUS, as with any mapping, so models
// are replaced by renaming, never by writing into them.
class MappedFile {
 public:
  // Errors name the file and the cause: missing, empty, a folder, no permission, a loop of links.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }

  std::span<const std::byte> bytes() const { return bytes_; }

  // Asks the system to read the whole file in the background.
  void prefetch() const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes);

  std::string path_;
  std::span<const std::byte> bytes_;  // empty once moved from
};

}  // namespace rapt
