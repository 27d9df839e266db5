// plimsoll tokenizers: every tokenizer with its source and licence; compiles what set-up fetched.
#pragma once

#include <CLI/CLI.hpp>

#include "plimsoll/tokenizers.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

void add_tokenizers_command(CLI::App& app, const Globals& globals, int& exit_code);

// The library that the settings name.
TokenizerLibrary library_of(const base::Settings& settings);

}  // namespace plimsoll
