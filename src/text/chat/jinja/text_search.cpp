#include <cstring>

#include "text/chat/jinja/text_search_internal.h"

namespace rapt::jinja {

std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from) {
  if (from > text.size()) {
    return std::string_view::npos;
  }
  if (wanted.size() <= 1) {
    return text.find(wanted, from);
  }
  // Linear in the C libraries that we build with, unlike find().
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

BackwardSearch::BackwardSearch(std::string_view text, std::string_view wanted)
    : text_(text), wanted_(wanted) {
  if (wanted.size() > 1) {
    backward_text_.assign(text.rbegin(), text.rend());
    backward_wanted_.assign(wanted.rbegin(), wanted.rend());
  }
}

std::size_t BackwardSearch::find(std::size_t end) const {
  if (wanted_.size() > end) {
    return std::string_view::npos;
  }
  if (wanted_.size() <= 1) {
    return text_.rfind(wanted_, end - wanted_.size());
  }
  const std::size_t found = find_text(backward_text_, backward_wanted_, text_.size() - end);
  return found == std::string_view::npos ? found : text_.size() - found - wanted_.size();
}

}  // namespace rapt::jinja
