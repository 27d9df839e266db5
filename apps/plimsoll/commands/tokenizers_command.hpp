// plimsoll tokenizers: lists tokenizers with source and licence; compiles downloaded definitions.
#pragma once

#include <CLI/CLI.hpp>

#include "plimsoll/tokenizers.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

void add_tokenizers_command(CLI::App& app, const Globals& globals, int& exit_code);

// Returns the tokenizer library of the settings.
TokenizerLibrary library_of(const config::Settings& settings);

}  // namespace plimsoll
