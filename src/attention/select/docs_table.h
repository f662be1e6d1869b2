#pragma once

#include <span>
#include <string>

#include "attention/registry.h"

namespace rapt {

// The tables of docs/ATTENTION.md, as Markdown, each ending in a newline. A test keeps the page
// equal to them.
std::string backends_markdown(std::span<const BackendInfo* const> backends = attention_backends());
std::string aliases_markdown();
std::string options_markdown();

}  // namespace rapt
