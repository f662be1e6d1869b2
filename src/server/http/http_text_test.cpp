#include <gtest/gtest.h>

#include <set>

#include "server/http/http_message_internal.h"
#include "server/http/http_text_internal.h"
#include "server/http/responder_internal.h"

namespace rapt {
namespace {

TEST(HttpText, ClientRequestIdsAreKeptWhenTheyAreHarmless) {
  EXPECT_EQ(accept_request_id("abc-123"), "abc-123");
  EXPECT_EQ(accept_request_id(std::string(128, 'x')), std::string(128, 'x'));
}

TEST(HttpText, OtherRequestIdsAreReplaced) {
  for (const std::string& bad :
       {std::string(),
        std::string("a b"),
        std::string("a\r\nb"),
        std::string("\xC3\xA4"),
        std::string(129, 'x')}) {
    const std::string id = accept_request_id(bad);
    EXPECT_EQ(id.substr(0, 4), "req_");
    EXPECT_EQ(id.size(), 28U);
  }
}

TEST(HttpText, RandomIdsDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    ids.insert(random_hex(24));
  }
  EXPECT_EQ(ids.size(), 100U);
}

TEST(HttpText, ChunkSizesAreHexadecimal) {
  std::string out;
  append_chunk(out, std::string(26, 'x'));
  EXPECT_EQ(out, "1a\r\n" + std::string(26, 'x') + "\r\n");
}

TEST(HttpText, EventsEndWithABlankLine) {
  std::string out;
  append_event(out, "{}");
  append_event(out, "[DONE]");
  EXPECT_EQ(out, "data: {}\n\ndata: [DONE]\n\n");
}

TEST(HttpText, DateHasTheFixedForm) {
  const std::string date = http_date();
  EXPECT_EQ(date.size(), 29U);
  EXPECT_EQ(date.substr(25), " GMT");
}

struct TargetCase {
  const char* target;
  const char* path;
  const char* query;
};

TEST(ParseTarget, SplitsAndDecodes) {
  const TargetCase cases[] = {
      {"/", "/", ""},
      {"/v1/models?x=1&y=%20", "/v1/models", "x=1&y=%20"},
      {"/a%20b", "/a b", ""},
      {"/v1/models/openai%2Fgpt", "/v1/models/openai/gpt", ""},
      {"http://host:1/path?q", "/path", "q"},
      {"http://host", "/", ""},
      {"HTTPS://host/path#x", "/path", ""},
      {"http://host//path", "//path", ""},
      {"/x#frag?y", "/x", ""},
      {"/redirect?to=http://x", "/redirect", "to=http://x"},
      {"*", "*", ""},
  };
  for (const TargetCase& test : cases) {
    std::string path;
    std::string query;
    EXPECT_TRUE(parse_target(test.target, path, query)) << test.target;
    EXPECT_EQ(path, test.path) << test.target;
    EXPECT_EQ(query, test.query) << test.target;
  }
}

TEST(ParseTarget, RefusesBrokenOnes) {
  for (const char* target :
       {"",
        "x",
        "/%",
        "/%1",
        "/%zz",
        "/%00",
        "host:443",
        "ftp://host/health",
        "ht%20tp://foo/health",
        "xhttp://foo/health",
        "http:/health",
        "http:///health",
        "http://foo?x=/health",
        "http://foo#/health"}) {
    std::string path;
    std::string query;
    EXPECT_FALSE(parse_target(target, path, query)) << target;
  }
}

TEST(MayBeginChunk, TellsAsSoonAsTheBytesDo) {
  for (const char* first : {"", "3", "1aF", "3\r", "3\r\n", "3;name=value", "3 ;a", "0\r\na: b"}) {
    EXPECT_TRUE(may_begin_chunk(first, true)) << first;
    EXPECT_TRUE(may_begin_chunk("\r\n" + std::string(first), false)) << first;
  }
  EXPECT_TRUE(may_begin_chunk("\r", false));
  for (const char* first : {"x", "\r", "\n", "3x", "3\n", ";", " 3", "-1", "0x3"}) {
    EXPECT_FALSE(may_begin_chunk(first, true)) << first;
    EXPECT_FALSE(may_begin_chunk("\r\n" + std::string(first), false)) << first;
  }
  for (const char* next : {"d", "3", "\n", "\r3", "\rd"}) {
    EXPECT_FALSE(may_begin_chunk(next, false)) << next;
  }
}

}  // namespace
}  // namespace rapt
