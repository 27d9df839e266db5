// The commands and options of the program as values, for the man page and for shell completions.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace plimsoll {

struct DescribedOption {
  std::vector<std::string> names;    // "-q", "--quiet"; one name without a dash for a positional argument
  std::string value;                 // "FILE", "KEY=VALUE"; empty: a flag
  std::vector<std::string> choices;  // if only some values are allowed
  std::string about;
  bool is_positional = false;
  bool is_repeated = false;
  bool is_required = false;
  bool takes_file() const;
};

struct DescribedCommand {
  std::string path;  // "" for the program, "index add"
  std::string about;
  std::string examples;
  std::vector<DescribedOption> options;  // in the order of the help
  std::vector<std::string> subcommands;  // names
};

// Returns the program and all commands below it, each before its own subcommands. Hidden ones are left out.
std::vector<DescribedCommand> describe(const CLI::App& app);

// Returns the name of an option's value as the help shows it: "FILE", "a|b", "N"; empty for a flag.
std::string value_name(const CLI::Option& option);

}  // namespace plimsoll
