// What summaries of a session replaced (F5), for `plimsoll inspect --session S --original`.
#pragma once

#include <filesystem>
#include <string>

#include "plimsoll/result.hpp"

namespace plimsoll {

// Each summary of the session, oldest first, with the messages that it put away: for people, or as one JSON
// object a line. not_found where there is none.
Result<std::string> session_originals(const std::filesystem::path& store, const std::string& owner,
                                      const std::string& session, bool json);

}  // namespace plimsoll
