#include "engine/quality/text_windows.h"

#include <algorithm>

#include "base/check.h"

namespace rapt {

std::vector<TextWindow> split_into_windows(int num_tokens, int context, int stride) {
  CHECK(context >= 2 && stride >= 1 && stride <= context, context, " ", stride);
  std::vector<TextWindow> windows;
  int num_done = 0;
  for (int begin = 0; begin + 1 < num_tokens && num_done < num_tokens; begin += stride) {
    const int end = std::min(num_tokens, begin + context);
    const TextWindow window{begin, end, std::max(begin + 1, num_done)};
    if (window.first_scored < window.end) {
      windows.push_back(window);
    }
    num_done = end;
  }
  return windows;
}

int num_scored(const std::vector<TextWindow>& windows) {
  int count = 0;
  for (const TextWindow& window : windows) {
    count += window.end - window.first_scored;
  }
  return count;
}

}  // namespace rapt
