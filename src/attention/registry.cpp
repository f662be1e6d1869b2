#include "attention/registry.h"

namespace rapt {

const BackendInfo* find_attention_backend(
    std::string_view name, std::span<const BackendInfo* const> backends
) {
  for (const BackendInfo* backend : backends) {
    if (backend->name == name) {
      return backend;
    }
  }
  return nullptr;
}

}  // namespace rapt
