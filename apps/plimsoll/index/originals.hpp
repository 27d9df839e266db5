// Shows the turns that summaries of a session replaced (F5), for `plimsoll inspect --session S --original`.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

// Returns each summary of the session, oldest first, with the messages it replaced: as text, or as one JSON
// object per line. Fails with not_found if there is none.
Result<std::string> session_originals(const config::Settings& settings, const std::string& owner,
                                      const std::string& session, bool json);

}  // namespace plimsoll
