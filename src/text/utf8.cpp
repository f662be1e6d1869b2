#include <cstdint>
#include <cstring>

#include "text/utf8_internal.h"

namespace rapt {

namespace {

// What may follow a lead byte: how many bytes in all, and the range of the second one. The narrow
// ranges keep out overlong forms, surrogates and code points past U+10FFFF (Unicode, table 3-7).
struct Lead {
  std::size_t num_bytes;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) {
    return {1, 0, 0};
  }
  if (byte < 0xC2 || byte > 0xF4) {
    return {0, 0, 0};
  }
  if (byte < 0xE0) {
    return {2, 0x80, 0xBF};
  }
  if (byte < 0xF0) {
    const bool is_e0 = byte == 0xE0;
    const bool is_ed = byte == 0xED;
    return {
        3,
        static_cast<std::uint8_t>(is_e0 ? 0xA0 : 0x80),
        static_cast<std::uint8_t>(is_ed ? 0x9F : 0xBF)};
  }
  const bool is_f0 = byte == 0xF0;
  const bool is_f4 = byte == 0xF4;
  return {
      4,
      static_cast<std::uint8_t>(is_f0 ? 0x90 : 0x80),
      static_cast<std::uint8_t>(is_f4 ? 0x8F : 0xBF)};
}

// The length of the ASCII run that begins at `pos`, eight bytes at a time.
std::size_t ascii_run(std::string_view bytes, std::size_t pos) {
  const std::size_t begin = pos;
  while (pos + 8 <= bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + pos, 8);
    if ((word & 0x8080808080808080ULL) != 0) {
      break;
    }
    pos += 8;
  }
  while (pos < bytes.size() && static_cast<std::uint8_t>(bytes[pos]) < 0x80) {
    ++pos;
  }
  return pos - begin;
}

}  // namespace

Utf8Step utf8_step(std::string_view bytes, std::size_t pos) {
  const Lead lead = lead_of(static_cast<std::uint8_t>(bytes[pos]));
  if (lead.num_bytes <= 1) {
    return {lead.num_bytes == 1 ? Utf8Kind::kCharacter : Utf8Kind::kInvalid, 1};
  }
  for (std::size_t i = 1; i < lead.num_bytes; ++i) {
    if (pos + i >= bytes.size()) {
      return {Utf8Kind::kIncomplete, i};
    }
    const auto byte = static_cast<std::uint8_t>(bytes[pos + i]);
    const std::uint8_t min = i == 1 ? lead.second_min : 0x80;
    const std::uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) {
      return {Utf8Kind::kInvalid, i};
    }
  }
  return {Utf8Kind::kCharacter, lead.num_bytes};
}

std::size_t append_lossy(std::string_view bytes, std::string& out) {
  std::size_t pos = 0;
  while (pos < bytes.size()) {
    if (const std::size_t run = ascii_run(bytes, pos); run > 0) {
      out.append(bytes, pos, run);
      pos += run;
      continue;
    }
    const Utf8Step step = utf8_step(bytes, pos);
    if (step.kind == Utf8Kind::kIncomplete) {
      return pos;
    }
    if (step.kind == Utf8Kind::kCharacter) {
      out.append(bytes, pos, step.num_bytes);
    } else {
      out += kReplacementCharacter;
    }
    pos += step.num_bytes;
  }
  return pos;
}

bool is_valid_utf8(std::string_view bytes) {
  std::size_t pos = 0;
  while (pos < bytes.size()) {
    pos += ascii_run(bytes, pos);
    if (pos == bytes.size()) {
      break;
    }
    const Utf8Step step = utf8_step(bytes, pos);
    if (step.kind != Utf8Kind::kCharacter) {
      return false;
    }
    pos += step.num_bytes;
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  if (append_lossy(bytes, out) < bytes.size()) {
    out += kReplacementCharacter;
  }
  return out;
}

}  // namespace rapt
