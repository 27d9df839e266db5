#include "describe/describe_commands.hpp"

#include <memory>

#include "base/try.hpp"
#include "describe/completions.hpp"
#include "describe/man_page.hpp"
#include "terminal/globals.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

Result<void> print_completions(const CLI::App& app, const std::string& shell) {
  TRY(const std::string script, completions_for(shell, describe(app)));
  return print_out(script);
}

}  // namespace

void add_describe_commands(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completions = app.add_subcommand("completions", "Print completions for a shell");
  completions->group("");
  completions->footer(
      "Examples:\n  plimsoll completions bash > ~/.local/share/bash-completion/completions/plimsoll\n");
  completions->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completions->callback([&app, shell, &exit_code] {
    if (const auto done = print_completions(app, *shell); !done) exit_code = complain(done.error());
  });
  CLI::App* man = app.add_subcommand("man", "Print the manual page");
  man->group("");
  man->footer("Examples:\n  plimsoll man | man -l -\n");
  man->callback([&app, &exit_code] {
    if (const auto done = print_out(man_page(describe(app), PLIMSOLL_VERSION)); !done)
      exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
