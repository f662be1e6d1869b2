#include <algorithm>

#include "text/chat/jinja/marked_text_internal.h"

namespace rapt::jinja {

Origin MarkedText::origin_of_any(std::size_t begin, std::size_t end) const {
  for (std::size_t pos = begin; pos < end; ++pos) {
    if (origin_at(pos) == Origin::kData) {
      return Origin::kData;
    }
  }
  return Origin::kTemplate;
}

bool MarkedText::make_room(std::size_t num_bytes) {
  overflowed_ = overflowed_ || num_bytes > kMaxBytes || bytes_.size() > kMaxBytes - num_bytes;
  return !overflowed_;
}

void MarkedText::spread_origins() {
  origins_.assign(bytes_.size(), static_cast<char>(uniform_));
}

void MarkedText::append(std::string_view bytes, Origin origin) {
  if (bytes.empty() || !make_room(bytes.size())) {
    return;
  }
  if (bytes_.empty()) {
    uniform_ = origin;
  } else if (origins_.empty() && origin != uniform_) {
    spread_origins();
  }
  if (!origins_.empty()) {
    origins_.append(bytes.size(), static_cast<char>(origin));
  }
  bytes_ += bytes;
}

void MarkedText::append(const MarkedText& text) {
  append(text, 0, text.size());
  overflowed_ = overflowed_ || text.overflowed_;
}

void MarkedText::append(const MarkedText& text, std::size_t begin, std::size_t end) {
  const std::string_view bytes = std::string_view(text.bytes_).substr(begin, end - begin);
  if (text.origins_.empty()) {
    append(bytes, text.uniform_);
    return;
  }
  if (bytes.empty() || !make_room(bytes.size())) {
    return;
  }
  if (origins_.empty()) {
    spread_origins();
  }
  origins_.append(text.origins_, begin, end - begin);
  bytes_ += bytes;
}

void MarkedText::drop_spare_room() {
  constexpr std::size_t kSmall = 256;
  for (std::string* bytes : {&bytes_, &origins_}) {
    if (bytes->capacity() > kSmall && bytes->capacity() > bytes->size() + bytes->size() / 4) {
      bytes->shrink_to_fit();
    }
  }
}

MarkedText MarkedText::slice(std::size_t begin, std::size_t end) const {
  MarkedText part;
  part.append(*this, begin, end);
  return part;
}

std::vector<TextRange> MarkedText::template_ranges() const {
  std::vector<TextRange> ranges;
  if (origins_.empty()) {
    if (uniform_ == Origin::kTemplate && !bytes_.empty()) {
      ranges.push_back({0, bytes_.size()});
    }
    return ranges;
  }
  std::size_t pos = 0;
  while (pos < origins_.size()) {
    const std::size_t begin = origins_.find(static_cast<char>(Origin::kTemplate), pos);
    if (begin == std::string::npos) {
      break;
    }
    pos = std::min(origins_.find(static_cast<char>(Origin::kData), begin), origins_.size());
    ranges.push_back({begin, pos});
  }
  return ranges;
}

}  // namespace rapt::jinja
