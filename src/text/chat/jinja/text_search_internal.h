#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Looking for a text in another, in a time that grows with their sizes and not with the product of
// them: a template may bring texts that are made for making a plain search slow.

namespace rapt::jinja {

// Where `wanted` begins for the first time at `from` or behind; npos when it is not there.
std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from = 0);

// Finds a text again and again, from the end on.
class BackwardSearch {
 public:
  // Both must outlive this.
  BackwardSearch(std::string_view text, std::string_view wanted);

  // Where `wanted` begins for the last time of those that end at `end` or before; npos when there
  // is none.
  std::size_t find(std::size_t end) const;

 private:
  std::string_view text_;
  std::string_view wanted_;
  // Both backwards; empty where one byte is looked for, which needs no such detour.
  std::string backward_text_;
  std::string backward_wanted_;
};

}  // namespace rapt::jinja
