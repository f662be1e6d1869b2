#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "text/vocabulary_internal.h"

namespace rapt {

namespace {

template <typename Word>
std::uint64_t load(const char* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

// Most lookups are of a few bytes, so that all loads have a fixed size: those of the last bytes
// overlap what was hashed before. The length tells apart what that makes alike.
std::uint64_t hash_bytes(std::string_view bytes) {
  const char* data = bytes.data();
  const std::size_t size = bytes.size();
  std::uint64_t hash = size * 0xD6E8FEB86659FD93ULL;
  if (size >= 8) {
    for (std::size_t pos = 0; pos + 8 < size; pos += 8) {
      hash = mix(hash, load<std::uint64_t>(data + pos));
    }
    return mix(hash, load<std::uint64_t>(data + size - 8));
  }
  if (size >= 4) {
    const std::uint64_t first = load<std::uint32_t>(data);
    return mix(hash, (first << 32) | load<std::uint32_t>(data + size - 4));
  }
  if (size >= 2) {
    const std::uint64_t first = load<std::uint16_t>(data);
    return mix(hash, (first << 32) | load<std::uint16_t>(data + size - 2));
  }
  return mix(hash, static_cast<std::uint8_t>(data[0]));
}

}  // namespace

Vocabulary::Vocabulary(std::string arena, const std::vector<std::uint32_t>& lengths)
    : arena_(std::move(arena)) {
  begins_.reserve(lengths.size() + 1);
  std::uint32_t begin = 0;
  for (const std::uint32_t length : lengths) {
    begins_.push_back(begin);
    begin += length;
    max_token_bytes_ = std::max<std::size_t>(max_token_bytes_, length);
  }
  begins_.push_back(begin);
  CHECK(begin == arena_.size(), "tokens take ", begin, " bytes of ", arena_.size());

  slots_.resize(std::bit_ceil(std::max<std::size_t>(lengths.size() * 2, 16)));
  for (TokenId id = 0; id < size(); ++id) {
    if (lengths[static_cast<std::size_t>(id)] > 0) {
      insert(id);
    }
  }
}

void Vocabulary::insert(TokenId id) {
  const std::string_view token = bytes(id);
  const std::uint64_t hash = hash_bytes(token);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id != kNoToken) {
    if (slots_[slot].tag == tag && bytes(slots_[slot].id) == token) {
      return;
    }
    slot = (slot + 1) & mask;
  }
  slots_[slot] = {tag, id};
}

std::string_view Vocabulary::bytes(TokenId id) const {
  if (id < 0 || id >= size()) {
    return {};
  }
  const auto index = static_cast<std::size_t>(id);
  return std::string_view(arena_).substr(begins_[index], begins_[index + 1] - begins_[index]);
}

TokenId Vocabulary::find(std::string_view bytes) const {
  if (bytes.empty() || bytes.size() > max_token_bytes_) {
    return kNoToken;
  }
  const std::uint64_t hash = hash_bytes(bytes);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot].id != kNoToken; slot = (slot + 1) & mask) {
    if (slots_[slot].tag == tag && this->bytes(slots_[slot].id) == bytes) {
      return slots_[slot].id;
    }
  }
  return kNoToken;
}

}  // namespace rapt
