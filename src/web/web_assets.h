#pragma once

#include <span>
#include <string_view>

namespace rapt {

// One file of the page (src/web/page) as the binary carries it. The bytes live as long as the
// process.
struct WebAsset {
  std::string_view path;  // under /assets/, e.g. "chat/composer.js"; "index.html" is the page
  std::string_view content_type;  // "text/javascript; charset=utf-8"
  std::string_view bytes;
  std::string_view gzip;  // the same, as gzip made it
  std::string_view etag;  // quotes included; changes with the bytes
};

// All files, in the order of their paths. Any thread.
std::span<const WebAsset> web_assets();

}  // namespace rapt
