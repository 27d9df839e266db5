// Starts llama.cpp, once for all of its users in this process.
#pragma once

#include <string>

#include "plimsoll/result.hpp"

namespace plimsoll::llama {

// llama.cpp was built for a processor of the last ten years, and would end in an illegal instruction.
Result<void> check_processor();

void start_once();

// What llama.cpp said last of an error: it tells its log alone.
std::string last_words();
void forget_last_words();

}  // namespace plimsoll::llama
