// Turns a definition into the arrays of a compiled tokenizer.
#pragma once

#include <string>

#include "count/vocabulary/definition.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

// Returns the bytes of the compiled file. bad_input: the definition is inconsistent.
Result<std::string> compile(const Definition& definition);

}  // namespace plimsoll::count
