#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rapt {

// Types of metadata values, as GGUF files number them.
enum class GgufType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// One value, still in the bytes of the file: a model's list of 200,000 tokens costs nothing until
// somebody asks for it.
struct GgufValue {
  GgufType type = GgufType::kU8;
  std::string_view bytes;  // a string's text; a number; an array's elements, one behind the other
  GgufType element_type = GgufType::kU8;  // of an array
  std::uint64_t num_elements = 0;         // of an array

  // "an integer", "an array of 3 strings": for messages, and for people.
  std::string kind() const;
};

// The metadata of a GGUF file: keys with typed values. Made by parse_gguf(), which has checked that
// every value lies inside the file; a view of the mapping, which must outlive it. Each typed access
// fails with a sentence that names the file, the key, what was found and what was expected.
class GgufMetadata {
 public:
  // `what` names the file in errors.
  explicit GgufMetadata(std::string what);

  // False when the key is there already.
  bool add(std::string_view key, const GgufValue& value);

  const std::string& what() const { return what_; }

  // In the order of the file.
  const std::vector<std::pair<std::string_view, GgufValue>>& entries() const { return entries_; }

  // nullptr when absent.
  const GgufValue* find(std::string_view key) const;

  bool has(std::string_view key) const { return find(key) != nullptr; }

  Result<std::string_view> text(std::string_view key) const;
  Result<std::int64_t> integer(std::string_view key) const;
  // The integer of a key that names a token. Converters write "none" as -1, which becomes 2^32 - 1
  // where the value has no sign: both are -1 here.
  Result<std::int64_t> token_id(std::string_view key) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  // Arrays. The texts are views of the file.
  Result<std::vector<std::string_view>> texts(std::string_view key) const;
  Result<std::vector<std::int64_t>> integers(std::string_view key) const;
  // Of integers too.
  Result<std::vector<double>> numbers(std::string_view key) const;

  // The values whose keys begin with `prefix`, under their whole keys, as one JSON object, for
  // ConfigFields. Arrays longer than `max_elements` are left out.
  json::object to_json(std::string_view prefix, std::uint64_t max_elements) const;

  // 'FILE: "key" is KIND; PROBLEM'
  Error key_error(std::string_view key, std::string_view problem) const;

 private:
  Result<const GgufValue*> require(std::string_view key, std::string_view expected) const;
  Result<const GgufValue*> require_array(std::string_view key, std::string_view expected) const;

  std::string what_;
  std::vector<std::pair<std::string_view, GgufValue>> entries_;
  std::unordered_map<std::string_view, std::size_t> places_;  // in entries_
};

// The value as JSON, an array with all its elements.
json::value to_json(const GgufValue& value);

}  // namespace rapt
