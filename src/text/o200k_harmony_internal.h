#pragma once

#include <string_view>
#include <vector>

#include "request/request.h"
#include "text/bpe_tokenizer_internal.h"

namespace rapt {

// Where o200k_base is cut into pieces: words with the marks and the contraction that belong to
// them, at most three digits, symbols with the line ends behind them, blanks.
inline constexpr std::string_view kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)"
    R"(|\s*[\r\n]+)"
    R"(|\s+(?!\S))"
    R"(|\s+)";

// The control tokens of o200k_harmony, 199998 to 200018, which tokenizer.json lists; then those
// that fill gpt-oss' vocabulary up to 201087, which have names but no text that turns into them.
inline constexpr TokenId kFirstO200kSpecial = 199'998;
inline constexpr TokenId kLastO200kSpecial = 200'018;
inline constexpr TokenId kLastO200kReserved = 201'087;

std::vector<AddedToken> o200k_harmony_added_tokens();

}  // namespace rapt
