// `plimsoll memory`: stores, searches, rates and deletes facts.
#pragma once

#include <CLI/CLI.hpp>

#include "engine/evidence/memories.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

void add_memory_command(CLI::App& app, const Globals& globals, int& exit_code);

// Prints what was stored and its id.
Result<void> tell_added(const engine::AddedFact& added);

}  // namespace plimsoll
