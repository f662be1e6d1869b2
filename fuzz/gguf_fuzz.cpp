// Any bytes as a GGUF file. What is accepted must lie inside the file, and every value of its
// metadata must be readable in each form.

#include <array>
#include <span>

#include "base/check.h"
#include "checkpoint/gguf.h"
#include "fuzz_target.h"

namespace {

constexpr std::array kTypes = {
    rapt::BlockType{.name = "Q8_0", .gguf_id = 8, .elements = 32, .bytes = 34},
    rapt::BlockType{.name = "MXFP4", .gguf_id = 39, .elements = 32, .bytes = 17},
    rapt::BlockType{.name = "Q4_K", .gguf_id = 12, .elements = 256, .bytes = 144},
};

void read_all(const rapt::GgufMetadata& metadata) {
  for (const auto& [key, value] : metadata.entries()) {
    const bool is_list = metadata.texts(key).has_value() || metadata.integers(key).has_value() ||
                         metadata.numbers(key).has_value();
    const bool is_single = metadata.text(key).has_value() || metadata.integer(key).has_value() ||
                           metadata.boolean_or(key, true).has_value();
    CHECK(!is_list || !is_single, "both a list and a single value");
    CHECK(!value.kind().empty());
  }
  CHECK(!rapt::to_json_text(metadata.to_json("", ~std::uint64_t{0})).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto contents = rapt::parse_gguf(file, "the input", kTypes);
  if (!contents) {
    CHECK(!contents.error().message.empty(), "an error without a message");
    return 0;
  }
  read_all(contents->metadata);
  unsigned sum = 0;
  for (const rapt::TensorInfo& tensor : contents->tensors) {
    CHECK(!tensor.type_name().empty() && tensor.num_elements() >= 0);
    for (const std::byte byte :
         std::span(tensor.data, static_cast<std::size_t>(tensor.num_bytes))) {
      sum += std::to_integer<unsigned>(byte);
    }
  }
  CHECK(sum <= size * 255, "the tensors are more than the file");
  return 0;
}
