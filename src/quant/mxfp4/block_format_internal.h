#pragma once

#include "quant/block/format_internal.h"

namespace rapt {

// The layouts of format.h.
BlockFormat mxfp4_pairs_format();   // gpt-oss checkpoints
BlockFormat mxfp4_gguf_format();    // GGUF files
BlockFormat mxfp4_ollama_format();  // the first GGUF files of Ollama

}  // namespace rapt
