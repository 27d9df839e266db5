// Frees memory that only the start of the process needed.
#pragma once

namespace plimsoll {

// Drops the pages of program code that are mapped so far. Code that is still used is mapped again from the
// page cache at its next use; code that only the start needed is not.
void let_go_of_startup_code();

}  // namespace plimsoll
