// `plimsoll memory`: what is remembered.
#pragma once

#include <CLI/CLI.hpp>

#include "engine/evidence/memories.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

void add_memory_command(CLI::App& app, const Globals& globals, int& exit_code);

// Says in the terminal what was kept, and how it will be found.
Result<void> tell_added(const engine::AddedFact& added);

}  // namespace plimsoll
