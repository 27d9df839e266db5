// plimsoll chat: a conversation in the terminal that never overflows the window.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_chat_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
