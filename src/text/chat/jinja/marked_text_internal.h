#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace rapt::jinja {

// Whose words a byte is: the template author's, who may write control tokens, or somebody else's.
enum class Origin : char { kTemplate, kData };

// A text that knows byte by byte who wrote it. Every operation of the template language keeps that
// knowledge, whatever it cuts, joins or replaces, so that what comes out can be told apart again:
// control tokens are looked for in the template's bytes only. Bytes are valid UTF-8.
class MarkedText {
 public:
  // No text grows beyond this. One that would is `overflowed()` from then on and takes nothing
  // more; the interpreter turns that into an error.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  MarkedText() = default;

  MarkedText(std::string bytes, Origin origin) : bytes_(std::move(bytes)), uniform_(origin) {}

  const std::string& bytes() const { return bytes_; }

  std::size_t size() const { return bytes_.size(); }

  bool empty() const { return bytes_.empty(); }

  bool overflowed() const { return overflowed_; }

  Origin origin_at(std::size_t pos) const {
    return origins_.empty() ? uniform_ : static_cast<Origin>(origins_[pos]);
  }

  // The origin of what replaces a character: an escape of data is data.
  Origin origin_of_any(std::size_t begin, std::size_t end) const;

  void append(std::string_view bytes, Origin origin);
  void append(const MarkedText& text);
  void append(const MarkedText& text, std::size_t begin, std::size_t end);

  void append(const MarkedText& text, std::size_t begin) { append(text, begin, text.size()); }

  MarkedText slice(std::size_t begin, std::size_t end) const;

  // Gives memory back that only appending would need.
  void drop_spare_room();

  // The stretches that the template wrote, in order and apart.
  std::vector<TextRange> template_ranges() const;

 private:
  bool make_room(std::size_t num_bytes);
  void spread_origins();

  std::string bytes_;
  std::string origins_;  // one a byte; empty: all are `uniform_`
  Origin uniform_ = Origin::kTemplate;
  bool overflowed_ = false;
};

}  // namespace rapt::jinja
