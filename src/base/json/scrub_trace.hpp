// A forgotten fact's words, taken out of a stored trace.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::base {

// Takes the words of a fact out of a trace as JSON, which stays as long as it is, so that its row can be
// overwritten in place. Words of a few bytes are looked for only where they stand as a fact. False: it held
// none of it.
bool scrub_trace(std::string& json, std::string_view id, std::string_view text);

}  // namespace plimsoll::base
