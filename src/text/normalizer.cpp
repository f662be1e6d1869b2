#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"
#include "text/normalizer_internal.h"

namespace rapt {

namespace {

using CodePoint = utf8proc_int32_t;

struct Range {
  CodePoint first;
  CodePoint last;
};

// Characters that no character before them combines with and that stay as they are. Not all of
// them: those that texts are made of, so that most of a text is copied without a closer look.
constexpr auto kInert = std::to_array<Range>({
    {0x0, 0x2FF},
    {0x400, 0x482},
    {0x3041, 0x3096},
    {0x30A1, 0x30FA},
    {0x3400, 0x9FFF},
    {0xAC00, 0xD7A3},
});

// What Unicode 10 to 16 added and utf8proc (of which version ever) sorts, splits or combines, while
// the reference's tables do not know it. Found by trying each code point with tokenizers 0.23.
constexpr auto kYoung = std::to_array<Range>({
    {0x7FD, 0x7FD},     {0x897, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
    {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},   {0x105C9, 0x105C9},
    {0x105D2, 0x105D2}, {0x105DA, 0x105DA}, {0x105E4, 0x105E4}, {0x10D24, 0x10D27},
    {0x10D69, 0x10D6D}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x11383, 0x11383},
    {0x11385, 0x11385}, {0x1138E, 0x1138E}, {0x11391, 0x11391}, {0x113B8, 0x113B8},
    {0x113BB, 0x113BB}, {0x113C2, 0x113C2}, {0x113C5, 0x113C5}, {0x113C7, 0x113C9},
    {0x113CE, 0x113D0}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11930, 0x11930},
    {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0},
    {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42},
    {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x1611E, 0x16129},
    {0x1612F, 0x1612F}, {0x16D67, 0x16D6A}, {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
    {0x1E5EE, 0x1E5EF},
});

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, CodePoint code_point) {
  const auto* range = std::lower_bound(
      ranges.begin(),
      ranges.end(),
      code_point,
      [](const Range& candidate, CodePoint value) { return candidate.last < value; }
  );
  return range != ranges.end() && code_point >= range->first;
}

struct Character {
  CodePoint code_point = 0;
  std::size_t num_bytes = 0;
};

Character character_at(std::string_view utf8, std::size_t pos) {
  Character character;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(utf8.data());
  const utf8proc_ssize_t num_left = static_cast<utf8proc_ssize_t>(utf8.size() - pos);
  const auto num_bytes = utf8proc_iterate(bytes + pos, num_left, &character.code_point);
  CHECK(num_bytes > 0, "no UTF-8 at byte ", pos);
  character.num_bytes = static_cast<std::size_t>(num_bytes);
  return character;
}

int combining_class(CodePoint code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Sorts each run of combining marks by their classes. (utf8proc would do that itself, but takes
// quadratic time for a long run.)
void sort_marks(std::vector<CodePoint>& code_points) {
  const auto is_mark = [](CodePoint code_point) { return combining_class(code_point) != 0; };
  auto begin = code_points.begin();
  while (begin != code_points.end()) {
    begin = std::find_if(begin, code_points.end(), is_mark);
    const auto end = std::find_if_not(begin, code_points.end(), is_mark);
    std::stable_sort(begin, end, [](CodePoint a, CodePoint b) {
      return combining_class(a) < combining_class(b);
    });
    begin = end;
  }
}

void append_composed(std::string_view utf8, std::vector<CodePoint>& scratch, std::string& out) {
  scratch.clear();
  for (std::size_t pos = 0; pos < utf8.size();) {
    const Character character = character_at(utf8, pos);
    pos += character.num_bytes;
    // Four is the longest canonical decomposition.
    std::array<CodePoint, 8> parts;
    int bound_class = 0;
    const auto num_parts = utf8proc_decompose_char(
        character.code_point,
        parts.data(),
        static_cast<utf8proc_ssize_t>(parts.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE),
        &bound_class
    );
    CHECK(num_parts >= 0 && num_parts <= 8, "utf8proc: ", utf8proc_errmsg(num_parts));
    scratch.insert(scratch.end(), parts.begin(), parts.begin() + num_parts);
  }
  sort_marks(scratch);
  const auto num_composed = utf8proc_normalize_utf32(
      scratch.data(),
      static_cast<utf8proc_ssize_t>(scratch.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE)
  );
  for (utf8proc_ssize_t i = 0; i < num_composed; ++i) {
    std::array<utf8proc_uint8_t, 4> bytes;
    const auto num_bytes = utf8proc_encode_char(scratch[static_cast<std::size_t>(i)], bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(num_bytes));
  }
}

}  // namespace

std::string to_nfc(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  std::vector<CodePoint> scratch;
  std::size_t num_copied = 0;
  // Where the character before this one begins, if marks may still combine with it.
  std::optional<std::size_t> base;
  std::size_t pos = 0;
  while (pos < utf8.size()) {
    Character character = character_at(utf8, pos);
    const bool is_inert = is_in(kInert, character.code_point);
    if (is_inert || is_in(kYoung, character.code_point)) {
      base = is_inert ? std::optional(pos) : std::nullopt;
      pos += character.num_bytes;
      continue;
    }
    const std::size_t begin = base.value_or(pos);
    out += utf8.substr(num_copied, begin - num_copied);
    do {
      pos += character.num_bytes;
      character = pos < utf8.size() ? character_at(utf8, pos) : Character{};
    } while (pos < utf8.size() && !is_in(kInert, character.code_point) &&
             !is_in(kYoung, character.code_point));
    append_composed(utf8.substr(begin, pos - begin), scratch, out);
    num_copied = pos;
    base.reset();
  }
  return out += utf8.substr(num_copied);
}

}  // namespace rapt
