#pragma once

#include <memory>

#include "attention/backend.h"

namespace rapt {

// Attention in double precision, one query head of one row after the other. For
// docs/ADD_AN_ATTENTION_BACKEND.md and its test; not in the product.
std::unique_ptr<AttentionBackend> make_example_backend();

}  // namespace rapt
