#pragma once

#include <string>

namespace rapt::testing {

// What a test may want to choose of a tiny random gpt-oss; the rest is fixed.
struct TinyGptOss {
  int num_layers = 3;  // even ones slide
  int window = 5;
  int num_experts = 6;
  int vocab_size = 61;
  int max_positions = 256;
  unsigned seed = 1;
};

// Writes such a checkpoint (Hugging Face layout, MXFP4 experts) into an existing folder.
void write_tiny_gpt_oss(const std::string& folder, const TinyGptOss& model = {});

}  // namespace rapt::testing
