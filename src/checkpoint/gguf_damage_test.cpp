// Files that are no sound GGUF: each is refused with a sentence that says what is wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "checkpoint/gguf.h"
#include "support/gguf_files.h"

namespace rapt {
namespace {

using rapt::testing::gguf_number;
using rapt::testing::gguf_string;
using rapt::testing::GgufWriter;
using rapt::testing::kGgufF32;
using rapt::testing::kGgufQ8;
using ::testing::HasSubstr;

constexpr std::array kTypes = {
    BlockType{.name = "Q8_0", .gguf_id = 8, .elements = 32, .bytes = 34},
};

// Parses a copy that ends where the allocation ends, so that the address sanitizer sees a read past
// it, and reads all that is found.
std::string error_of(std::string_view bytes) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), copy.get());
  const std::span<const std::byte> file(copy.get(), bytes.size());
  const Result<GgufContents> contents = parse_gguf(file, "m.gguf", kTypes);
  if (!contents) {
    EXPECT_EQ(contents.error().code, ErrorCode::kBadFile);
    EXPECT_THAT(contents.error().message, HasSubstr("m.gguf"));
    return contents.error().message;
  }
  to_json_text(contents->metadata.to_json("", ~std::uint64_t{0}));
  for (const TensorInfo& info : contents->tensors) {
    if (info.num_bytes > 0) {
      EXPECT_GE(info.data, file.data());
      EXPECT_LE(info.data + info.num_bytes, file.data() + file.size());
    }
  }
  return "";
}

void expect_refused(std::string_view bytes, std::string_view part) {
  EXPECT_THAT(error_of(bytes), HasSubstr(std::string(part)));
}

std::string header(std::uint32_t version, std::uint64_t num_tensors, std::uint64_t num_values) {
  return "GGUF" + gguf_number(version) + gguf_number(num_tensors) + gguf_number(num_values);
}

// A whole little model with something of everything.
std::string sound_file() {
  return GgufWriter()
      .add_text("general.architecture", "test")
      .add_u32("general.alignment", 32)
      .add_bool("flag", true)
      .add_texts("words", {"one", "two", "three"})
      .add_i32s("numbers", {1, 2, 3})
      .add_tensor("a", kGgufF32, {2, 2}, std::string(16, 'a'))
      .add_tensor("b", kGgufQ8, {1, 64}, std::string(68, 'b'))
      .bytes();
}

TEST(GgufDamage, RefusesWhatIsNoGguf) {
  expect_refused("", "no GGUF file");
  expect_refused("GGU", "no GGUF file");
  expect_refused("version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer");
  expect_refused("<!DOCTYPE html><html>", "failed download");
  expect_refused(std::string("PK\x03\x04", 4), "zip archive");
  expect_refused("tjgg\1\2\3\4", "older than GGUF");
  expect_refused("GGUF\3", "is 5 bytes long; the header of a GGUF file has 24");
}

TEST(GgufDamage, RefusesOtherVersions) {
  expect_refused(header(1, 0, 0), "version 1, which is not supported; convert the model anew");
  expect_refused(header(0, 0, 0), "version 0; Rapt reads versions 2 and 3");
  expect_refused(header(4, 0, 0), "version 4; Rapt reads versions 2 and 3");
  expect_refused(header(3U << 24, 0, 0), "for big-endian machines");
}

TEST(GgufDamage, RefusesCountsThatNoFileCouldHold) {
  for (const std::uint64_t count : {std::uint64_t{1000}, ~std::uint64_t{0}}) {
    expect_refused(header(3, count, 0), "tensors, whose list alone would be longer");
    expect_refused(header(3, 0, count), "metadata values, which would be longer");
  }
}

TEST(GgufDamage, RefusesBadMetadata) {
  const auto with_value = [](std::uint32_t type, std::string_view bytes) {
    return GgufWriter().add_value("key", type, bytes).bytes();
  };
  const auto array_of = [](std::uint32_t type, std::uint64_t count) {
    return gguf_number(type) + gguf_number(count);
  };
  expect_refused(with_value(13, "x"), "\"key\" has the type 13, which GGUF does not define");
  expect_refused(with_value(7, "\2"), "\"key\" is a truth value that is neither 0 nor 1");
  expect_refused(with_value(9, array_of(77, 0)), "\"key\" is an array of a type that GGUF");
  for (const std::uint64_t length : {std::uint64_t{9}, ~std::uint64_t{0}}) {
    expect_refused(with_value(8, gguf_number(length) + "short"), "ends past the end of the file");
    for (const std::uint32_t type : {0, 4, 8, 9, 10}) {
      expect_refused(with_value(9, array_of(type, length)), "ends past the end of the file");
    }
  }
  std::string nested;
  for (int depth = 0; depth < 9; ++depth) {
    nested += array_of(9, 1);
  }
  expect_refused(with_value(9, nested + array_of(0, 0)), "nests arrays too deeply");
  expect_refused(GgufWriter().add_u32("", 1).bytes(), "has a name of 0 bytes");
  expect_refused(GgufWriter().add_u32(std::string(65536, 'k'), 1).bytes(), "a name of 65536 bytes");
  expect_refused(
      GgufWriter().add_u32("key", 1).add_text("key", "x").bytes(), "\"key\" stands there twice"
  );
}

TEST(GgufDamage, RefusesBadAlignments) {
  for (const std::uint32_t alignment : {0U, 3U, 48U, 1U << 31}) {
    expect_refused(
        GgufWriter().add_u32("general.alignment", alignment).bytes(), "expected a power of two"
    );
  }
  expect_refused(
      GgufWriter().add_text("general.alignment", "32").bytes(),
      "\"general.alignment\" is a string; expected an integer"
  );
}

TEST(GgufDamage, RefusesBadTensors) {
  const auto with_dims = [](const std::vector<std::int64_t>& dims, std::uint32_t type = kGgufF32) {
    return GgufWriter().add_tensor("t", type, dims, "abcd").bytes();
  };
  expect_refused(with_dims({1, 1, 1, 1, 1}), "\"t\" has 5 dimensions; GGUF allows 4");
  expect_refused(with_dims({-1}), "\"t\" has more elements than any file could hold");
  expect_refused(with_dims({1LL << 32, 1LL << 32}), "more elements than any file could hold");
  expect_refused(with_dims({1LL << 40, 0, 1LL << 40}), "more elements than any file could hold");
  expect_refused(with_dims({1LL << 40}), "\"t\" ends past the end of the file");
  expect_refused(with_dims({33}, kGgufQ8), "rows of 33 elements, which are no whole blocks of 32");
  expect_refused(with_dims({}, kGgufQ8), "rows of 1 elements");
  expect_refused(
      GgufWriter().add_tensor("t", 0, {1}, "abcd").add_tensor("t", 0, {1}, "abcd").bytes(),
      "holds tensor \"t\" twice"
  );
  GgufWriter odd;
  odd.alignment = 8;
  expect_refused(
      odd.add_tensor("s", 0, {1}, "abcd").add_tensor("t", 0, {1}, "abcd").bytes(),
      "\"t\" lies at offset 8, which is no multiple of the file's alignment, 32"
  );
}

TEST(GgufDamage, RefusesTensorsOneOverTheOther) {
  std::string bytes = GgufWriter()
                          .add_tensor("first", kGgufF32, {16}, std::string(64, 'a'))
                          .add_tensor("other", kGgufF32, {1}, "abcd")
                          .bytes();
  // The offset ends the second entry; the header's 24 bytes and both entries come before the data.
  const std::size_t entry_bytes = 8 + 5 + 4 + 8 + 4 + 8;
  const std::size_t offset_at = 24 + 2 * entry_bytes - 8;
  ASSERT_EQ(bytes.substr(offset_at, 8), gguf_number(std::uint64_t{64}));
  bytes.replace(offset_at, 8, gguf_number(std::uint64_t{32}));
  expect_refused(bytes, "tensors \"first\" and \"other\" lie one over the other");
}

TEST(GgufDamage, RefusesEveryCutShortFile) {
  const std::string bytes = sound_file();
  ASSERT_EQ(error_of(bytes), "");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error_of(std::string_view(bytes).substr(0, size)), "") << size;
  }
}

TEST(GgufDamage, SurvivesEveryFlippedBit) {
  const std::string bytes = sound_file();
  std::size_t num_refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    num_refused += error_of(damaged).empty() ? 0 : 1;
  }
  EXPECT_GT(num_refused, bytes.size()) << "most bits of lengths, counts and types";
}

TEST(GgufDamage, SurvivesRandomNumbersInPlaceOfItsOwn) {
  const std::string bytes = sound_file();
  std::mt19937_64 random(1);
  const std::array<std::uint64_t, 8> nasty = {
      0, 1, 31, 1ULL << 31, 1ULL << 32, 1ULL << 62, 1ULL << 63, ~0ULL};
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int edit = 0; edit < 1 + round % 3; ++edit) {
      const std::size_t at = random() % (damaged.size() - 8);
      damaged.replace(at, 8, gguf_number(nasty[random() % nasty.size()]));
    }
    error_of(damaged);
  }
}

}  // namespace
}  // namespace rapt
