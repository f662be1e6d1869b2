#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer.h"

// What the tests of this folder share.

namespace rapt {

// The built-in tokenizer; made once, because that takes a while under a sanitizer.
const Tokenizer& test_tokenizer();

// A file of tests/cases, whole or as one value a line.
json::value read_case_file(const std::string& name);
std::vector<json::value> read_case_lines(const std::string& name);

std::vector<TokenId> ids_from_json(const json::value& list);

// The hash that tools/text_oracles.py calls IdHash.
class IdHash {
 public:
  void add(const std::vector<TokenId>& ids);
  std::string hex() const;

 private:
  void add_number(std::uint32_t number);

  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

// splitmix64, and the strings that tools/make_text_vectors.py draws with it.
class CaseRandom {
 public:
  explicit CaseRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();

  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

std::string random_string(CaseRandom& random, const json::object& vectors);

// A file of its own for one test, removed with it.
class TempFile {
 public:
  explicit TempFile(std::string_view content);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rapt
