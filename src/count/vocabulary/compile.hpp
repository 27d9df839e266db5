// Turns a definition into the arrays of a compiled tokenizer.
#pragma once

#include <string>

#include "count/vocabulary/definition.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

// The bytes of the compiled file. bad_input where the definition contradicts itself.
Result<std::string> compile(const Definition& definition);

}  // namespace plimsoll::count
