#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "support/checkpoint_files.h"

// Damaged files: each must be refused with one sentence that names the file, the tensor, what was
// found and what was expected; and no bytes at all may crash the reader.

namespace rapt {
namespace {

using rapt::testing::safetensors_bytes;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Damage {
  std::string bytes;
  std::string message;  // behind "m.safetensors"
};

// In memory of exactly its size, so that the address sanitizer sees a read past the end.
Result<std::vector<TensorInfo>> parse(const std::string& bytes) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), copy.get());
  Result<std::vector<TensorInfo>> tensors =
      parse_safetensors(std::span(copy.get(), bytes.size()), "m.safetensors");
  if (tensors) {
    unsigned sum = 0;
    for (const TensorInfo& info : *tensors) {
      for (std::int64_t idx = 0; idx < info.num_bytes; ++idx) {
        sum += std::to_integer<unsigned>(info.data[idx]);
      }
    }
    EXPECT_LE(sum, 255U * bytes.size()) << "tensors overlap";
  }
  return tensors;
}

void expect_each_refused(const std::vector<Damage>& table) {
  for (const Damage& damage : table) {
    const auto tensors = parse(damage.bytes);
    ASSERT_FALSE(tensors) << "accepted; expected: " << damage.message;
    EXPECT_EQ(tensors.error().code, ErrorCode::kBadFile);
    EXPECT_THAT(tensors.error().message, StartsWith("m.safetensors"));
    EXPECT_THAT(tensors.error().message, HasSubstr(damage.message));
  }
}

// A file whose header is `header` and whose data are `num_data_bytes` long.
std::string with_header(const std::string& header, std::size_t num_data_bytes = 0) {
  return safetensors_bytes(header, std::string(num_data_bytes, 'd'));
}

// A file with the one tensor "t", of whom `fields` is the description.
std::string with_tensor(const std::string& fields, std::size_t num_data_bytes = 0) {
  return with_header(R"({"t":{)" + fields + "}}", num_data_bytes);
}

std::string with_tensor(
    const std::string& dtype,
    const std::string& shape,
    const std::string& offsets,
    std::size_t num_data_bytes
) {
  return with_tensor(
      R"("dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets,
      num_data_bytes
  );
}

std::string u8_entry(const std::string& name, int begin, int end) {
  return "\"" + name + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) +
         R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string out = safetensors_bytes("", rest);
  for (int idx = 0; idx < 8; ++idx) {
    out[static_cast<std::size_t>(idx)] = static_cast<char>((length >> (8 * idx)) & 0xFFU);
  }
  return out;
}

TEST(SafetensorsDamage, RefusesBadHeaders) {
  expect_each_refused({
      {"", " is 0 bytes long; a safetensors file begins with 8 bytes"},
      {"1234567", " is 7 bytes long"},
      {with_length(0, ""), " has a header that does not begin with {"},
      {with_length(2, ""), " states a header of 2 bytes, but only 0 follow: the file is cut short"},
      {with_length(3, "{}"), " states a header of 3 bytes, but only 2 follow"},
      {with_length(100'000'001, "{}"), " states a header of 100000001 bytes; at most 100000000"},
      {with_length(~std::uint64_t{0}, "{}"), " states a header of 18446744073709551615 bytes"},
      {with_length(std::uint64_t{1} << 63, "{}"), "no safetensors file"},
      {with_header("[]"), " has a header that does not begin with {"},
      {with_header(" {}"), " has a header that does not begin with {"},
      {with_header("{"), ": the header is not valid JSON"},
      {with_header("{}x"), ": the header is not valid JSON"},
      {with_header(R"({"t":})"), ": the header is not valid JSON"},
      {with_header("{\"\xff\":1}"), ": the header is not valid JSON"},
      {with_header(std::string("{}\0", 3)), ": the header is not valid JSON"},
      {with_header(R"({"t":)" + std::string(40, '[') + std::string(40, ']') + "}"),
       ": the header is not valid JSON"},
      {with_tensor(R"("dtype":1e999)"), "number"},
      {"version https://git-lfs.github.com/spec/v1\n", " is a Git LFS pointer"},
      {std::string("GGUF\3\0\0\0\0\0", 10), " is a GGUF file under the name of a safetensors one"},
      {"<!DOCTYPE html><html></html>", " is an HTML or XML page"},
      {std::string("PK\3\4\x14\0\0\0\b\0\0\0", 12), " is a zip archive"},
      {with_header(R"({"__metadata__":[]})"),
       R"(: "__metadata__" is an array; expected an object)"},
      {with_header(R"({"__metadata__":{"n":1}})"),
       R"(: "__metadata__" holds an integer for "n"; expected a string)"},
  });
}

TEST(SafetensorsDamage, RefusesBadEntries) {
  expect_each_refused({
      {with_header(R"({"t":5})"), R"(: tensor "t" is described by an integer; expected an object)"},
      {with_header(R"({"t":null})"), R"(: tensor "t" is described by null; expected an object)"},
      {with_tensor(""), R"(: tensor "t" has no "dtype")"},
      {with_tensor(R"("dtype":"U8")"), R"(: tensor "t" has no "shape")"},
      {with_tensor(R"("dtype":"U8","shape":[])"), R"(: tensor "t" has no "data_offsets")"},
      {with_tensor("1", "[1]", "[0,1]", 1), R"(: tensor "t": "dtype" is an integer; expected a)"},
      {with_tensor(R"("F8_E5M2")", "[1]", "[0,1]", 1),
       R"(: tensor "t" has element type "F8_E5M2", which is not supported yet; expected one of F32)"},
      {with_tensor(R"("F64")", "[1]", "[0,8]", 8), R"("F64", which is not supported yet)"},
      {with_tensor(R"("bf16")", "[1]", "[0,2]", 2), R"("bf16", which safetensors does not have)"},
      {with_tensor(R"("")", "[1]", "[0,2]", 2), R"("", which safetensors does not have)"},
      {with_tensor(R"("U8")", "1", "[0,1]", 1), R"("shape" is an integer; expected an array)"},
      {with_tensor(R"("U8")", "[-1]", "[0,1]", 1), R"("shape" holds -1; expected integers from 0)"},
      {with_tensor(R"("U8")", "[1.0]", "[0,1]", 1), R"("shape" holds 1; expected integers)"},
      {with_tensor(R"("U8")", R"(["1"])", "[0,1]", 1), R"("shape" holds "1"; expected integers)"},
      {with_tensor(R"("U8")", "[[1]]", "[0,1]", 1), R"("shape" holds [1]; expected integers)"},
      {with_tensor(R"("U8")", "[9223372036854775808]", "[0,1]", 1),
       R"("shape" holds 9223372036854775808; expected integers from 0 to 2^63 - 1)"},
      {with_tensor(R"("U8")", "[1,1,1,1,1,1,1,1,1]", "[0,1]", 1),
       R"(: tensor "t" has 9 dimensions; expected at most 8)"},
      {with_tensor(R"("U8")", "[1]", R"("0,1")", 1), R"("data_offsets" is a string; expected an)"},
      {with_tensor(R"("U8")", "[1]", "[0]", 1), R"("data_offsets" holds 1 numbers; expected 2)"},
      {with_tensor(R"("U8")", "[1]", "[0,1,2]", 1),
       R"("data_offsets" holds 3 numbers; expected 2)"},
      {with_tensor(R"("U8")", "[1]", "[-1,0]", 1), R"("data_offsets" holds -1; expected integers)"},
      {with_tensor(R"("U8")", "[1]", "[1,0]", 1),
       R"("data_offsets" end at 0, before their begin at 1)"},
      {with_tensor(R"("U8")", "[1]", "[0,18446744073709551615]", 1),
       R"("data_offsets" holds 18446744073709551615)"},
      {with_tensor(R"("BF16")", "[2,3]", "[0,11]", 11),
       R"(: tensor "t" has shape [2, 3] and element type BF16, so 12 bytes were expected; )"
       R"(its "data_offsets" span 11)"},
      {with_tensor(R"("F32")", "[]", "[0,0]", 0), R"(shape [] and element type F32, so 4 bytes)"},
      {with_tensor(R"("U8")", "[4294967296,4294967296]", "[0,0]", 0),
       R"(has shape [4294967296, 4294967296] and element type U8, more bytes than 64 bits)"},
      {with_tensor(R"("I64")", "[2305843009213693952]", "[0,0]", 0), "more bytes than 64 bits"},
      {with_tensor(R"("U8")", "[9223372036854775807,3,0]", "[0,0]", 0), "more bytes than 64 bits"},
  });
}

TEST(SafetensorsDamage, RefusesDataThatTheTensorsDoNotTile) {
  const std::string a = u8_entry("a", 0, 4);
  expect_each_refused({
      {with_header("{" + a + "}", 3),
       R"(: tensor "a" lies at bytes 0 to 4 of the data, but the file holds only 3 bytes of data)"},
      {with_header("{" + a + "}", 0), "the file holds only 0 bytes of data: it is cut short"},
      {with_header("{" + a + "}", 5),
       " holds 5 bytes of data; its tensors end at byte 4, and the rest belongs to none"},
      {with_header("{}", 1), " holds 1 bytes of data; its tensors end at byte 0"},
      {with_header("{" + u8_entry("a", 1, 4) + "}", 4),
       R"(: tensor "a" begins at byte 1 of the data; expected 0)"},
      {with_header("{" + a + "," + u8_entry("b", 6, 8) + "}", 8),
       R"(: tensor "b" begins at byte 6 of the data; expected 4)"},
      {with_header("{" + a + "," + u8_entry("b", 3, 8) + "}", 8),
       R"(: tensor "b" begins at byte 3 of the data and overlaps tensor "a", which ends at byte 4)"},
      {with_header("{" + a + "," + u8_entry("b", 0, 4) + "}", 4), R"(overlaps tensor "a")"},
      {with_header("{" + a + "," + u8_entry("b", 1, 3) + "}", 4), R"(overlaps tensor "a")"},
      {with_header("{" + a + "," + u8_entry("b", 2, 2) + "}", 4), R"(overlaps tensor "a")"},
      {with_header(
           R"({"t":{"dtype":"U8","shape":[9223372036854775807],)"
           R"("data_offsets":[0,9223372036854775807]}})",
           4
       ),
       "lies at bytes 0 to 9223372036854775807 of the data, but the file holds only 4"},
      {with_header("{" + a + "," + a + "}", 4), R"(: the header names "a" twice)"},
      {with_header("{" + a + "," + u8_entry("\\u0061", 0, 4) + "}", 4), R"(names "a" twice)"},
      {with_header(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1),
       R"(: the header names "dtype" twice)"},
  });
}

TEST(SafetensorsDamage, EscapesTheNamesItShows) {
  const auto tensors = parse(with_header(R"({"a\u0000\n\u001b[31m":1})"));
  ASSERT_FALSE(tensors);
  EXPECT_THAT(tensors.error().message, HasSubstr(R"("a\u0000\n\u001b[31m")"));
}

std::string valid_file() {
  return safetensors_bytes(
      {{"model.embed_tokens.weight", "BF16", {4, 3}, std::string(24, 'e')},
       {"experts.blocks", "U8", {2, 2, 4}, std::string(16, 'b')},
       {"norm", "F32", {3}, std::string(12, 'n')}}
  );
}

TEST(SafetensorsDamage, RefusesEveryTruncation) {
  const std::string whole = valid_file();
  ASSERT_TRUE(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse(whole.substr(0, size))) << size;
  }
}

// A few edits of a valid file: overwritten, removed, doubled or inserted bytes, mostly in the
// header, and digits in preference, since sizes and offsets are where arithmetic goes wrong.
TEST(SafetensorsDamage, SurvivesRandomMutations) {
  constexpr int kNumMutations = 6000;
  constexpr std::string_view kInteresting = "0123456789-{}[]\",:.eE\\u \xff\x80";
  std::mt19937 random(20240817);
  const std::string whole = valid_file();
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  int num_refused = 0;
  for (int round = 0; round < kNumMutations; ++round) {
    std::string bytes = whole;
    const std::size_t num_edits = 1 + below(4);
    for (std::size_t edit = 0; edit < num_edits && !bytes.empty(); ++edit) {
      const std::size_t pos = below(bytes.size());
      const char c =
          below(4) == 0 ? static_cast<char>(below(256)) : kInteresting[below(kInteresting.size())];
      switch (below(5)) {
        case 0:
          bytes.erase(pos, 1 + below(8));
          break;
        case 1:
          bytes.insert(pos, 1 + below(20), c);
          break;
        case 2:
          bytes.insert(pos, bytes.substr(below(bytes.size()), below(40)));
          break;
        default:
          bytes[pos] = c;
      }
    }
    const auto tensors = parse(bytes);
    if (!tensors) {
      ++num_refused;
      ASSERT_THAT(tensors.error().message, StartsWith("m.safetensors"));
    }
  }
  EXPECT_GT(num_refused, kNumMutations / 2);
}

}  // namespace
}  // namespace rapt
