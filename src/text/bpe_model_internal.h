#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"

namespace rapt {

// How a BpeTokenizer makes tokens of the plain text between added tokens. Immutable, serves all
// threads.
class BpeModel {
 public:
  virtual ~BpeModel() = default;

  // One more than the highest id that has bytes.
  virtual int size() const = 0;
  // What the token stands for in a text; "" for an id that stands for nothing.
  virtual std::string_view bytes(TokenId id) const = 0;

  // Whether normalize() changes texts. Added tokens of AddedToken::is_normalized are looked for in
  // what it gives.
  virtual bool normalizes() const = 0;
  virtual std::string normalize(std::string_view text) const = 0;

  // Appends the tokens of `text`: normalized, valid UTF-8, without added tokens. `is_first` says
  // that it begins where the whole text does.
  virtual void append_tokens(std::string_view text, bool is_first, std::vector<TokenId>& out)
      const = 0;
};

}  // namespace rapt
