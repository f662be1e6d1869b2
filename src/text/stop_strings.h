#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"
#include "text/tokenizer.h"

namespace rapt {

// Finds the earliest end of any stop string in a growing text. Ties (two stops ending at the same
// byte) go to the longer one, then to the lower index. Used twice on the same text: on the engine
// thread to end the sequence, and on the IO thread to cut the text.
class StopStringScanner {
 public:
  explicit StopStringScanner(std::vector<std::string> stops);

  struct Hit {
    int stop_idx = 0;
    std::size_t begin = 0;  // byte offset in the whole text where the stop string begins
    std::size_t end = 0;    // one past its last byte
  };

  // Feeds the next bytes; once there is a hit, later bytes are ignored.
  std::optional<Hit> push(std::string_view bytes);
  // How many bytes at the end of the text so far could be the beginning of a stop string.
  std::size_t held_back() const;

 private:
  std::vector<std::string> stops_;
  std::string tail_;
  std::size_t consumed_ = 0;
  std::optional<Hit> hit_;
};

// Cuts a text at its first stop string while streaming: gives out only what cannot be part of one.
class StopTextFilter {
 public:
  StopTextFilter(std::vector<std::string> stops, bool include_stop);

  // The text that may be shown now. Always ends at a character's end if `text` does.
  std::string push(std::string_view text);
  // End of stream: what was held back, when no stop string was found.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  StopStringScanner scanner_;
  bool include_stop_;
  bool stopped_ = false;
  std::string held_;
  std::size_t emitted_ = 0;
};

// A StopMatcher over the plain decoded text of the produced tokens (for text completions).
std::unique_ptr<StopMatcher> make_text_stop_matcher(
    const Tokenizer& tokenizer, std::vector<std::string> stops
);

}  // namespace rapt
