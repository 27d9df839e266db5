// A forgotten fact's words, taken out of what is kept of requests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::sqlite {

// The owner's traces behind `after` that have something of them, and the last that was looked at. Reads all
// of them, which takes its time.
struct TellingTraces {
  std::vector<std::int64_t> rows;
  std::int64_t last = 0;
  std::string last_id;
};
Result<TellingTraces> telling_traces(Connection& connection, std::string_view owner,
                                     std::span<const Fact> gone, std::int64_t after = 0);
// Whether the last that was looked at is where it was: numbers of rows may begin anew.
Result<bool> still_holds(Connection& connection, const TellingTraces& telling);
// Takes the words out of these; how many had them still.
Result<std::int64_t> scrub_traces(Connection& connection, std::string_view owner,
                                  std::span<const std::int64_t> rows, std::span<const Fact> gone);

}  // namespace plimsoll::sqlite
