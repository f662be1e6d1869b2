// Any bytes as a safetensors file. What is accepted must lie inside the file.

#include <span>

#include "base/check.h"
#include "checkpoint/safetensors.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto tensors = rapt::parse_safetensors(file, "the input");
  if (!tensors) {
    CHECK(!tensors.error().message.empty(), "an error without a message");
    return 0;
  }
  unsigned sum = 0;
  for (const rapt::TensorInfo& tensor : *tensors) {
    for (const std::byte byte :
         std::span(tensor.data, static_cast<std::size_t>(tensor.num_bytes))) {
      sum += std::to_integer<unsigned>(byte);
    }
  }
  CHECK(sum <= size * 255, "the tensors are more than the file");
  return 0;
}
