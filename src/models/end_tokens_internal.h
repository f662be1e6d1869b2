#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "checkpoint/config_fields.h"
#include "checkpoint/gguf_metadata.h"

namespace rapt {

// The tokens that end an answer, as a checkpoint's files name them, added to `ids`: ascending, each
// once, all in [0, vocab_size). -1 stands for "none", as converters write it. Any other id outside
// the vocabulary is an error, since such a token never comes, and answers would not end.

// `eos_token_id` of a config.json or generation_config.json: an id, or an array of them.
Result<void> add_end_tokens(
    ConfigFields& fields, std::int64_t vocab_size, std::vector<std::int32_t>& ids
);

// The end of a text, of a turn, and of a message that waits for a tool; Ollama's files have a list.
Result<void> add_gguf_end_tokens(
    const GgufMetadata& metadata, std::int64_t vocab_size, std::vector<std::int32_t>& ids
);

}  // namespace rapt
