#include "web/web_assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace rapt {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(RAPT_SOURCE_DIR) / "src" / "web" / "page";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(WebAssets, HoldEveryFileOfThePage) {
  std::set<std::string> on_disk;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.is_regular_file()) {
      on_disk.insert(fs::relative(entry.path(), kFolder).generic_string());
    }
  }
  std::set<std::string> embedded;
  for (const WebAsset& asset : web_assets()) {
    embedded.insert(std::string(asset.path));
  }
  EXPECT_EQ(embedded, on_disk) << "src/web/CMakeLists.txt lists the files";
}

TEST(WebAssets, AreTheFilesByteForByte) {
  std::set<std::string_view> etags;
  for (const WebAsset& asset : web_assets()) {
    EXPECT_EQ(asset.bytes, read_file(kFolder / asset.path)) << asset.path;
    EXPECT_EQ(asset.gzip.substr(0, 3), "\x1F\x8B\x08") << asset.path;
    EXPECT_EQ(asset.etag.size(), 18U) << asset.path;
    etags.insert(asset.etag);
  }
  EXPECT_EQ(etags.size(), web_assets().size());
}

// What a browser loads at its first visit, compressed.
TEST(WebAssets, AreSmall) {
  constexpr std::size_t kMaxBytes = 600'000;
  std::size_t num_bytes = 0;
  for (const WebAsset& asset : web_assets()) {
    num_bytes += asset.gzip.size();
  }
  EXPECT_LT(num_bytes, kMaxBytes);
}

// The browser refuses what the page's policy forbids, so such code would not work; say it here.
TEST(WebAssets, HoldNoInlineCodeAndNoForeignAddress) {
  for (const WebAsset& asset : web_assets()) {
    for (const std::string_view banned :
         {"<script>",
          " style=\"",
          " onclick=",
          "javascript:",
          "innerHTML",
          "outerHTML",
          "insertAdjacentHTML",
          "document.write",
          "eval(",
          "new Function",
          "@import"}) {
      EXPECT_EQ(asset.bytes.find(banned), std::string_view::npos) << asset.path << ": " << banned;
    }
    // Namespaces of SVG and such are names, not addresses.
    std::string text(asset.bytes);
    for (std::size_t at = text.find("http"); at != std::string::npos;
         at = text.find("http", at + 1)) {
      const bool is_address =
          text.compare(at, 7, "http://") == 0 || text.compare(at, 8, "https://") == 0;
      const bool is_name = text.compare(at, 18, "http://www.w3.org/") == 0;
      const bool goes_on =
          is_address &&
          std::isalnum(static_cast<unsigned char>(text[text.find("//", at) + 2])) != 0;
      EXPECT_FALSE(goes_on && !is_name) << asset.path << ": " << text.substr(at, 40);
    }
  }
}

}  // namespace
}  // namespace rapt
