#include "commands/config_command.hpp"

#include <memory>

#include "base/try.hpp"
#include "config/settings.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

struct ConfigOptions {
  bool json = false;
  std::vector<std::string> keys;
};

Result<void> print_settings(const Globals& globals, const ConfigOptions& options) {
  TRY(const auto which, config::select_settings(options.keys));
  TRY(const config::Settings settings, load_settings(globals));
  const Terminal terminal = terminal_of_stdout();
  base::Page page{.columns = {}, .colour = terminal.colour};
  if (terminal.columns != 0) page.columns = terminal.columns;
  const std::string text =
      options.json ? base::settings_json(settings, which) : base::settings_table(settings, which, page);
  return print_out(text);
}

}  // namespace

void add_config_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = app.add_subcommand("config", "Show settings with value, origin and meaning");
  command->footer(
      "Examples:\n"
      "  plimsoll config                               all settings\n"
      "  plimsoll config store_file upstreams          only these two\n"
      "  plimsoll --set log_level=debug serve          set one for this run\n");
  command->add_flag("--json", options->json, "Print a JSON list");
  command->add_option("KEY", options->keys, "Show only these settings");
  command->callback([options, &globals, &exit_code] {
    if (const auto printed = print_settings(globals, *options); !printed)
      exit_code = complain(printed.error());
  });
}

}  // namespace plimsoll
