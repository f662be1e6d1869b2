#include "checkpoint/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "checkpoint/message_text_internal.h"
#include "checkpoint/text_file.h"
#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::TempFolder;
using ::testing::HasSubstr;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, GivesTheBytesOfTheFile) {
  const TempFolder folder;
  const std::string path = folder.write("a.bin", "some bytes");
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(text_of(*file), "some bytes");
  EXPECT_EQ(file->path(), path);
  file->prefetch();
}

TEST(MappedFile, KeepsViewsValidWhenMoved) {
  const TempFolder folder;
  Result<MappedFile> opened = MappedFile::open(folder.write("a.bin", "first"));
  ASSERT_TRUE(opened);
  const std::byte* address = opened->bytes().data();
  MappedFile moved = std::move(*opened);
  EXPECT_EQ(moved.bytes().data(), address);

  Result<MappedFile> other = MappedFile::open(folder.write("b.bin", "second"));
  ASSERT_TRUE(other);
  moved = std::move(*other);
  EXPECT_EQ(text_of(moved), "second");
}

TEST(MappedFile, OutlivesTheRemovalOfItsName) {
  const TempFolder folder;
  const std::string path = folder.write("a.bin", "still here");
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(*file), "still here");
}

TEST(MappedFile, FollowsLinks) {
  const TempFolder folder;
  folder.write("blob", "linked");
  std::filesystem::create_symlink("blob", folder.path() + "/name");
  const Result<MappedFile> file = MappedFile::open(folder.path() + "/name");
  ASSERT_TRUE(file);
  EXPECT_EQ(text_of(*file), "linked");
}

TEST(MappedFile, SaysWhyAPathCannotBeOpened) {
  const TempFolder folder;
  const std::string empty = folder.write("empty", "");
  std::filesystem::create_symlink("loop_b", folder.path() + "/loop_a");
  std::filesystem::create_symlink("loop_a", folder.path() + "/loop_b");
  std::filesystem::create_symlink("nowhere", folder.path() + "/dangling");
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);

  const std::pair<std::string, std::string> cases[] = {
      {folder.path() + "/missing", "/missing does not exist"},
      {folder.path() + "/dangling", "/dangling does not exist"},
      {empty, "/empty is empty"},
      {folder.path(), " is a folder; expected a file"},
      {folder.path() + "/loop_a", "/loop_a cannot be opened: its symbolic links form a loop"},
      {empty + "/x", "/x cannot be opened: a part of the path is not a folder"},
      {folder.path() + "/pipe", "/pipe is not a regular file"},
      {folder.path() + "/" + std::string(300, 'n'), "cannot be opened: File name too long"},
  };
  for (const auto& [path, expected] : cases) {
    const Result<MappedFile> file = MappedFile::open(path);
    ASSERT_FALSE(file) << path;
    EXPECT_THAT(file.error().message, HasSubstr(expected));
    EXPECT_THAT(file.error().message, HasSubstr(folder.path()));
  }
}

// As a call, since the user who runs the tests may be allowed to read everything.
TEST(PathError, NamesMissingPermission) {
  const Error error = path_error("/models/a", EACCES);
  EXPECT_EQ(error.message, "/models/a may not be read by this user: permission denied");
  EXPECT_EQ(error.code, ErrorCode::kBadFile);
  EXPECT_EQ(path_error("/models/a", ENOENT).code, ErrorCode::kNotFound);
}

TEST(MessageText, EscapesAndShortensWhatAFileSays) {
  EXPECT_EQ(in_quotes("a\nb"), R"("a\nb")");
  const std::string shown = in_quotes(std::string(95, 'x') + "\u20ac and more");
  EXPECT_EQ(shown, "\"" + std::string(95, 'x') + "...\"") << "cut before the split character";
}

TEST(TextFile, ReadsWholeFilesUpToALimit) {
  const TempFolder folder;
  const std::string path = folder.write("a.txt", "12345");
  const Result<std::string> text = read_text_file(path, 5);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "12345");
  const Result<std::string> too_long = read_text_file(path, 4);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().message, path + " is 5 bytes long; expected at most 4");
}

TEST(TextFile, NamesTheFileWhoseJsonIsDamaged) {
  const TempFolder folder;
  const std::string path = folder.write("config.json", "{\"a\": ");
  const Result<json::value> value = read_json_file(path);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kBadFile);
  EXPECT_THAT(value.error().message, HasSubstr(path + " is not valid JSON"));
}

}  // namespace
}  // namespace rapt
