#pragma once

#include <cstdint>
#include <string>

namespace rapt::testing {

// tests/cases/quant/<type>.txt holds stored blocks of a GGUF type, and the values that the
// reference library decodes from them. Expects that load_rows() and, on every CPU level,
// load_linear() read the same from a GGUF file with these blocks.
void expect_reference_values(const std::string& type, std::uint32_t gguf_id);

// Expects that a GGUF file in which a row is half of a block of `num_elements` is refused by a
// sentence that names tensor, type and block, and that a row of one block is not taken for a half.
void expect_whole_blocks(
    const std::string& type,
    std::uint32_t gguf_id,
    std::int64_t num_elements,
    std::int64_t num_bytes
);

}  // namespace rapt::testing
