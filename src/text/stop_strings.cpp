#include "text/stop_strings.h"

#include <algorithm>
#include <utility>

#include "text/detokenizer.h"

namespace rapt {

StopStringScanner::StopStringScanner(const std::vector<std::string>& stops) {
  patterns_.reserve(stops.size());
  for (const std::string& stop : stops) {
    Pattern pattern;
    pattern.text = stop;
    pattern.shorter.assign(stop.size() + 1, 0);
    // The pattern run over itself: how far it matches before byte i is its longest border there.
    for (std::size_t i = 1; i < stop.size(); ++i) {
      advance(pattern, stop[i]);
      pattern.shorter[i + 1] = pattern.num_matched;
    }
    pattern.num_matched = 0;
    patterns_.push_back(std::move(pattern));
  }
}

void StopStringScanner::advance(Pattern& pattern, char byte) {
  std::size_t& matched = pattern.num_matched;
  while (matched > 0 && (matched == pattern.text.size() || pattern.text[matched] != byte)) {
    matched = pattern.shorter[matched];
  }
  if (matched < pattern.text.size() && pattern.text[matched] == byte) {
    ++matched;
  }
}

std::optional<StopStringScanner::Hit> StopStringScanner::push(std::string_view bytes) {
  if (hit_) {
    return hit_;
  }
  for (const char byte : bytes) {
    ++consumed_;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      Pattern& pattern = patterns_[i];
      advance(pattern, byte);
      if (pattern.num_matched == pattern.text.size() && pattern.text.size() > longest) {
        longest = pattern.text.size();
        hit_ = Hit{static_cast<int>(i), consumed_ - longest, consumed_};
      }
    }
    if (hit_) {
      return hit_;
    }
  }
  return std::nullopt;
}

void StopStringScanner::pass(std::string_view bytes) {
  consumed_ += bytes.size();
  for (Pattern& pattern : patterns_) {
    for (const char byte : bytes) {
      advance(pattern, byte);
    }
  }
}

std::size_t StopStringScanner::held_back() const {
  std::size_t longest = 0;
  for (const Pattern& pattern : patterns_) {
    const bool is_whole = pattern.num_matched == pattern.text.size();
    longest =
        std::max(longest, is_whole ? pattern.shorter[pattern.num_matched] : pattern.num_matched);
  }
  return longest;
}

StopTextFilter::StopTextFilter(const std::vector<std::string>& stops, bool include_stop)
    : scanner_(stops), include_stop_(include_stop) {}

std::string StopTextFilter::push(std::string_view text) {
  if (stopped_) {
    return {};
  }
  held_ += text;
  if (const auto hit = scanner_.push(text)) {
    stopped_ = true;
    std::string shown = release(include_stop_ ? hit->end : hit->begin);
    held_.clear();
    return shown;
  }
  return release(emitted_ + held_.size() - scanner_.held_back());
}

std::string StopTextFilter::pass(std::string_view text) {
  if (stopped_) {
    return {};
  }
  held_ += text;
  scanner_.pass(text);
  return release(emitted_ + held_.size() - scanner_.held_back());
}

std::string StopTextFilter::finish() {
  return stopped_ ? std::string() : release(emitted_ + held_.size());
}

std::string StopTextFilter::release(std::size_t end) {
  std::string shown = held_.substr(0, end - emitted_);
  held_.erase(0, shown.size());
  emitted_ += shown.size();
  return shown;
}

namespace {

class TextStopMatcher final : public StopMatcher {
 public:
  TextStopMatcher(
      const Tokenizer& tokenizer,
      const std::vector<std::string>& stops,
      int min_tokens,
      bool keep_special
  )
      : detokenizer_(tokenizer, keep_special), scanner_(stops), num_unchecked_(min_tokens) {}

  std::optional<int> accept(TokenId token) override {
    const std::string text = detokenizer_.push(token);
    if (num_unchecked_ > 0) {
      --num_unchecked_;
      scanner_.pass(text);
      return std::nullopt;
    }
    const auto hit = scanner_.push(text);
    return hit ? std::optional<int>(hit->stop_idx) : std::nullopt;
  }

 private:
  Detokenizer detokenizer_;
  StopStringScanner scanner_;
  int num_unchecked_;
};

}  // namespace

std::unique_ptr<StopMatcher> make_text_stop_matcher(
    const Tokenizer& tokenizer, std::vector<std::string> stops, int min_tokens, bool keep_special
) {
  return std::make_unique<TextStopMatcher>(tokenizer, stops, min_tokens, keep_special);
}

}  // namespace rapt
