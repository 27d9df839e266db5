// What a process that runs for weeks need not keep of its first second.
#pragma once

namespace plimsoll {

// Lets go of the pages of program code that were read so far. They are the system's, which has them at hand:
// what is used still comes back at its next use, and what only the start needed does not.
void let_go_of_startup_code();

}  // namespace plimsoll
