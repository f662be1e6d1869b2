#pragma once

#include <memory>

#include "attention/backend.h"

namespace rapt {

// Tiled attention for AVX2 and AVX-512 (any CPU with its lanes as loops). Serves positions below
// `max_positions`, with up to `num_threads` threads.
std::unique_ptr<AttentionBackend> make_cpu_flash_backend(int num_threads, int max_positions);

}  // namespace rapt
