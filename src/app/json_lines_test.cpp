#include "app/json_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

namespace rapt {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using File = std::unique_ptr<std::FILE, CloseFile>;

File file_with(const std::string& text) {
  File file(std::tmpfile());
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  return text;
}

Result<json::value> double_it(const json::value& value) {
  if (!value.is_int64()) {
    return invalid_argument("expected an integer, found " + std::string(json_kind_name(value)));
  }
  return json::value(value.get_int64() * 2);
}

std::string answers_to(const std::string& lines) {
  const File in = file_with(lines);
  const File out(std::tmpfile());
  EXPECT_TRUE(answer_json_lines(in.get(), out.get(), double_it));
  return content_of(out.get());
}

TEST(JsonLines, AnswersEachLineInOrder) {
  EXPECT_EQ(answers_to("1\n2\n 3 \r\n"), "2\n4\n6\n");
  EXPECT_EQ(answers_to(""), "");
}

TEST(JsonLines, AnswersALastLineWithoutItsEnd) {
  EXPECT_EQ(answers_to("1\n2"), "2\n4\n");
}

TEST(JsonLines, GoesOnAfterALineItRefuses) {
  EXPECT_EQ(
      answers_to("1\n\"a\"\n2\n"), "2\n{\"error\":\"expected an integer, found a string\"}\n4\n"
  );
  const std::string text = answers_to("{\n\n\"\xFF\"\n7\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_EQ(text.find("{\"error\":\"the line"), 0U) << text;
  EXPECT_TRUE(text.ends_with("}\n14\n")) << text;
}

TEST(JsonLines, FlushesEachAnswerBeforeItReadsOn) {
  const File in = file_with("1\n2\n");
  const File out(std::tmpfile());
  std::string seen_at_second;
  const auto answer = [&](const json::value& value) -> Result<json::value> {
    if (value.get_int64() == 2) {
      // What another process would see: the file behind the stream, not the stream's buffer.
      char bytes[16];
      const ssize_t num_read = pread(fileno(out.get()), bytes, sizeof(bytes), 0);
      seen_at_second.assign(bytes, static_cast<std::size_t>(std::max<ssize_t>(num_read, 0)));
    }
    return double_it(value);
  };
  ASSERT_TRUE(answer_json_lines(in.get(), out.get(), answer));
  EXPECT_EQ(seen_at_second, "2\n");
}

TEST(JsonLines, SaysWhenItCannotWrite) {
  const File in = file_with("1\n");
  const File out(std::fopen("/dev/full", "w"));
  ASSERT_NE(out, nullptr);
  const Result<void> result = answer_json_lines(in.get(), out.get(), double_it);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find("cannot write an answer: "), 0U);
}

}  // namespace
}  // namespace rapt
