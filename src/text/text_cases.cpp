#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "text/text_cases_internal.h"

namespace rapt {

const Tokenizer& test_tokenizer() {
  static const std::unique_ptr<Tokenizer> tokenizer = *builtin_o200k_harmony();
  return *tokenizer;
}

json::value read_case_file(const std::string& name) {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/" + name);
  CHECK(file.is_open(), "no case file ", name);
  std::ostringstream text;
  text << file.rdbuf();
  return *parse_json(text.str(), name);
}

std::vector<json::value> read_case_lines(const std::string& name) {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/" + name);
  CHECK(file.is_open(), "no case file ", name);
  std::vector<json::value> values;
  for (std::string line; std::getline(file, line);) {
    values.push_back(*parse_json(line, name));
  }
  return values;
}

std::vector<TokenId> ids_from_json(const json::value& list) {
  std::vector<TokenId> ids;
  for (const json::value& id : list.as_array()) {
    ids.push_back(static_cast<TokenId>(id.as_int64()));
  }
  return ids;
}

void IdHash::add(const std::vector<TokenId>& ids) {
  for (const TokenId id : ids) {
    add_number(static_cast<std::uint32_t>(id));
  }
  add_number(0xFFFFFFFFU);
}

void IdHash::add_number(std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) {
    value_ = (value_ ^ ((number >> shift) & 0xFFU)) * 0x100000001B3ULL;
  }
}

std::string IdHash::hex() const {
  std::ostringstream out;
  out << std::hex;
  out.width(16);
  out.fill('0');
  out << value_;
  return out.str();
}

std::uint64_t CaseRandom::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

namespace {

void append_utf8(std::string& out, std::uint32_t code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
    return;
  }
  const int num_more = code_point < 0x800 ? 1 : (code_point < 0x10000 ? 2 : 3);
  constexpr std::uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[num_more] | (code_point >> (6 * num_more)));
  for (int i = num_more - 1; i >= 0; --i) {
    out += static_cast<char>(0x80U | ((code_point >> (6 * i)) & 0x3FU));
  }
}

}  // namespace

std::string random_string(CaseRandom& random, const json::object& vectors) {
  const json::array& fragments = vectors.at("fragments").as_array();
  const json::array& ranges = vectors.at("ranges").as_array();
  std::string text;
  const std::uint64_t num_pieces = random.below(24);
  for (std::uint64_t piece = 0; piece < num_pieces; ++piece) {
    const std::uint64_t kind = random.below(10);
    if (kind < 5) {
      const auto& fragment = fragments[random.below(fragments.size())].as_string();
      const std::uint64_t repeats = kind < 4 ? 1 : 1 + random.below(8);
      for (std::uint64_t i = 0; i < repeats; ++i) {
        text += std::string_view(fragment);
      }
      continue;
    }
    const json::array& range = ranges[random.below(ranges.size())].as_array();
    const auto first = static_cast<std::uint64_t>(range[0].as_int64());
    const auto last = static_cast<std::uint64_t>(range[1].as_int64());
    const std::uint64_t num_characters = 1 + random.below(5);
    for (std::uint64_t i = 0; i < num_characters; ++i) {
      const auto code_point = static_cast<std::uint32_t>(first + random.below(last - first + 1));
      const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
      append_utf8(text, is_surrogate ? 'x' : code_point);
    }
  }
  return text;
}

TempFile::TempFile(std::string_view content) {
  std::string name = (std::filesystem::temp_directory_path() / "rapt-text-XXXXXX").string();
  const int fd = mkstemp(name.data());
  CHECK(fd >= 0, "no temporary file ", name);
  close(fd);
  path_ = name;
  std::ofstream(path_, std::ios::binary) << content;
}

TempFile::~TempFile() {
  std::filesystem::remove(path_);
}

}  // namespace rapt
