// docs/ATTENTION.md shows the registry as it is.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "attention/select/docs_table.h"

namespace rapt {
namespace {

// What stands between the two marker comments of `name`.
std::string piece_of_page(const std::string& name) {
  std::ifstream file(std::string(RAPT_SOURCE_DIR) + "/docs/ATTENTION.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::string begin = "<!-- " + name + ": begin -->\n";
  const std::size_t first = page.find(begin);
  const std::size_t last = page.find("<!-- " + name + ": end -->");
  if (first == std::string::npos || last == std::string::npos) {
    return "no such marker";
  }
  return page.substr(first + begin.size(), last - first - begin.size());
}

constexpr const char* kHint = "tools/make_attention_docs brings the page up to date";

TEST(AttentionDocs, TablesAreThoseOfTheRegistry) {
  EXPECT_EQ(piece_of_page("backends"), backends_markdown()) << kHint;
  EXPECT_EQ(piece_of_page("aliases"), aliases_markdown()) << kHint;
  EXPECT_EQ(piece_of_page("options"), options_markdown()) << kHint;
}

}  // namespace
}  // namespace rapt
