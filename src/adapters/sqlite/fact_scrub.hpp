// A forgotten fact's words, taken out of what is kept of requests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "adapters/sqlite/database.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::sqlite {

// A trace as JSON without the fact's words: as long as before, so that its row is overwritten where it
// stands. Words of a few bytes are looked for only where they stand as a fact. False: it held none of it.
bool scrub(std::string& json, std::string_view id, std::string_view text);

// In all traces of the owner; how many had something of them.
Result<std::int64_t> scrub_traces(Connection& connection, std::string_view owner, std::span<const Fact> gone);

}  // namespace plimsoll::sqlite
