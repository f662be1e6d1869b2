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
  explicit StopStringScanner(const std::vector<std::string>& stops);

  struct Hit {
    int stop_idx = 0;
    std::size_t begin = 0;  // byte offset in the whole text where the stop string begins
    std::size_t end = 0;    // one past its last byte
  };

  // Feeds the next bytes; once there is a hit, later bytes are ignored.
  std::optional<Hit> push(std::string_view bytes);
  // Feeds bytes in which no stop string may end (those of the first min_tokens tokens). One that
  // begins here and ends later still counts.
  void pass(std::string_view bytes);
  // How many bytes at the end of the text so far could be the beginning of a stop string.
  std::size_t held_back() const;

 private:
  // Knuth, Morris and Pratt: each byte of text is looked at once, however long the stop strings.
  struct Pattern {
    std::string text;
    std::vector<std::size_t> shorter;  // [i]: longest proper border of the first i bytes
    std::size_t num_matched = 0;       // how much of `text` the text so far ends with
  };

  static void advance(Pattern& pattern, char byte);

  std::vector<Pattern> patterns_;
  std::size_t consumed_ = 0;
  std::optional<Hit> hit_;
};

// Cuts a text at its first stop string while streaming: gives out only what cannot be part of one.
class StopTextFilter {
 public:
  StopTextFilter(const std::vector<std::string>& stops, bool include_stop);

  // The text that may be shown now. Always ends at a character's end if `text` does.
  std::string push(std::string_view text);
  // The same for text that may hold no end of a stop string: that of the first min_tokens tokens.
  std::string pass(std::string_view text);
  // End of stream: what was held back, when no stop string was found.
  std::string finish();

  bool stopped() const { return stopped_; }

 private:
  std::string release(std::size_t end);

  StopStringScanner scanner_;
  bool include_stop_;
  bool stopped_ = false;
  std::string held_;
  std::size_t emitted_ = 0;
};

// A StopMatcher over the plain decoded text of the produced tokens (for text completions), with or
// without the names of special tokens, as the client will see it. No stop string counts that ends
// within the first `min_tokens` tokens.
std::unique_ptr<StopMatcher> make_text_stop_matcher(
    const Tokenizer& tokenizer,
    std::vector<std::string> stops,
    int min_tokens = 0,
    bool keep_special = false
);

}  // namespace rapt
