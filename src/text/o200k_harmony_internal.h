#pragma once

#include <vector>

#include "request/request.h"
#include "text/bpe_tokenizer_internal.h"

namespace rapt {

// The control tokens of o200k_harmony, 199998 to 200018, which tokenizer.json lists; then those
// that fill gpt-oss' vocabulary up to 201087, which have names but no text that turns into them.
inline constexpr TokenId kFirstO200kSpecial = 199'998;
inline constexpr TokenId kLastO200kSpecial = 200'018;
inline constexpr TokenId kLastO200kReserved = 201'087;

std::vector<AddedToken> o200k_harmony_added_tokens();

// If `tokens` are exactly those control tokens, adds the ones behind them, which gpt-oss' model can
// draw though its tokenizer files do not name them.
void complete_o200k_harmony(std::vector<AddedToken>& tokens);

}  // namespace rapt
