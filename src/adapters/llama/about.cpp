#include "adapters/llama/about.hpp"

#include <ggml.h>

namespace plimsoll::llama {

std::string ggml_version_text() {
  return ggml_version();
}

}  // namespace plimsoll::llama
