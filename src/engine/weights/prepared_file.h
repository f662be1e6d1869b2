#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint_dir.h"
#include "checkpoint/mapped_file.h"
#include "models/model.h"

// The prepared copy of a model's weights as a file: what is in it, how it is known again, and how
// it is written so that a half-written one is never taken for a whole one.
//
// A header says which checkpoint it was made of (each file's name, size, time of change and the
// hash of its beginning), in which format, and where each matrix lies; the matrices follow, each
// at a multiple of 4096 bytes. The file's name is the hash of the header, so another checkpoint or
// format is another file. It is written under another name and renamed when all of it is on disk.

namespace rapt {

// Where one matrix, or stack of them, lies in the file.
struct PreparedPart {
  std::string name;
  LinearMethod* method = nullptr;
  std::uint64_t offset = 0;  // bytes from the beginning of the file

  std::uint64_t num_bytes() const {
    return static_cast<std::uint64_t>(method->num_prepared_pieces()) *
           static_cast<std::uint64_t>(method->prepared_piece_bytes());
  }
};

struct PreparedLayout {
  std::string file_name;
  std::string model;   // the checkpoint's path, by which copies of its earlier states are found
  std::string header;  // as stored, filled up to a multiple of 4096 bytes
  std::vector<PreparedPart> parts;
  std::uint64_t num_bytes = 0;  // of the whole file
};

// What the prepared copy of that model looks like. No parts: it gains nothing from one.
Result<PreparedLayout> plan_prepared(
    const CheckpointDir& checkpoint, const std::vector<ModelLinear>& linears
);

// The file in `folder`, if it is there. An error says how it is damaged: its size, its header, or a
// piece of a matrix, of each of which one is compared with the checkpoint.
Result<std::optional<MappedFile>> open_prepared(
    const std::string& folder, const PreparedLayout& layout
);

// Writes the file. One thread; the destructor removes what was not finished.
class PreparedWriter {
 public:
  // Takes the disk space first; fails when there is not enough, when the folder cannot be written
  // to, or when another process writes the same file. Removes copies of the checkpoint's earlier
  // states.
  static Result<PreparedWriter> create(const std::string& folder, const PreparedLayout& layout);

  PreparedWriter(PreparedWriter&& other) noexcept;
  PreparedWriter& operator=(PreparedWriter&&) = delete;
  ~PreparedWriter();

  // Writes a part's pieces and brings them to the disk. `should_stop` is asked between pieces; true
  // ends it early, with an error.
  template <typename ShouldStop>
  Result<void> write_part(const PreparedPart& part, ShouldStop&& should_stop) {
    const auto piece_bytes = static_cast<std::uint64_t>(part.method->prepared_piece_bytes());
    piece_.resize(piece_bytes);
    for (std::int64_t piece = 0; piece < part.method->num_prepared_pieces(); ++piece) {
      if (should_stop()) {
        return Error{ErrorCode::kUnavailable, "stopped"};
      }
      part.method->write_prepared(piece, piece_.data());
      RETURN_IF_ERROR(write(piece_, part.offset + static_cast<std::uint64_t>(piece) * piece_bytes));
    }
    return sync();
  }

  // The header, which makes it whole, and the final name.
  Result<void> finish();

  // Where the bytes can be read while they are written; finish() changes only the name.
  const std::string& path() const { return path_; }

 private:
  PreparedWriter(std::string folder, const PreparedLayout& layout, std::string path, int fd);

  Result<void> reserve();
  Result<void> write(std::span<const std::byte> bytes, std::uint64_t offset);
  Result<void> sync();

  std::string folder_;
  const PreparedLayout* layout_;
  std::string path_;
  int fd_ = -1;
  bool is_finished_ = false;
  std::vector<std::byte> piece_;
};

}  // namespace rapt
