// What this program is: version, commit, compiler, processor features, tokenizers, llama.cpp.
#pragma once

#include <string>

namespace plimsoll {

// The first line is "plimsoll 0.1.0", for scripts; details follow, one per line.
std::string version_text();

}  // namespace plimsoll
