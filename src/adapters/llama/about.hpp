// The version of llama.cpp that this program was built with.
#pragma once

#include <string>

namespace plimsoll::llama {

// Returns the version of ggml, llama.cpp's own library: "0.25.3".
std::string ggml_version_text();

}  // namespace plimsoll::llama
