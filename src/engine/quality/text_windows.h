#pragma once

#include <vector>

namespace rapt {

// A long text is read in windows, each by itself from position 0. Tokens of a window that were
// scored in an earlier one are context only.
struct TextWindow {
  int begin = 0;         // of the text's tokens
  int end = 0;           // one past the last
  int first_scored = 0;  // the first token whose prediction counts; all up to `end` do
};

// Windows of `context` tokens, each beginning `stride` after the one before, up to the end of the
// text. Every token is scored once, but for those that nothing stands before: the first of the
// text, and of every window where `stride` is `context`. 1 <= stride <= context, 2 <= context.
std::vector<TextWindow> split_into_windows(int num_tokens, int context, int stride);

// How many predictions all windows have.
int num_scored(const std::vector<TextWindow>& windows);

}  // namespace rapt
