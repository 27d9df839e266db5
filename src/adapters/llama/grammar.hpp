// From a JSON schema to the grammar, in llama.cpp's notation, that an answer of such a form follows.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::llama {

// bad_input: it is no schema, or has what no grammar can hold.
Result<std::string> grammar_of(std::string_view json_schema);

}  // namespace plimsoll::llama
