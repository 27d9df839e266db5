// Opens a web page in the user's browser.
#pragma once

#include <string>

#include "plimsoll/result.hpp"

namespace plimsoll {

// Starts the desktop's opener (`$BROWSER`, else xdg-open) and does not wait for it. io_failed: there is none.
Result<void> show_in_browser(const std::string& address);

}  // namespace plimsoll
