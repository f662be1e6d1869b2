#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/request.h"

namespace rapt {

// Token ids written out: whole numbers separated by commas or white space, in brackets or not.
// `what` names the text in errors ("--token-ids").
Result<std::vector<TokenId>> parse_token_ids(std::string_view text, std::string_view what);

// The same from a file.
Result<std::vector<TokenId>> read_token_ids_file(const std::string& path);

}  // namespace rapt
