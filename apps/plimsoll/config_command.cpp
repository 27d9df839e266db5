#include "config_command.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/settings_report.hpp"
#include "base/try.hpp"

namespace plimsoll {
namespace {

struct Options {
  bool json = false;
  std::vector<std::string> keys;
};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

base::Page page_of_stdout() {
  if (::isatty(STDOUT_FILENO) == 0) return {};
  const bool colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return {.columns = terminal_columns(), .colour = colour};
}

Result<void> print_settings(const Globals& globals, const Options& options) {
  TRY(const auto which, base::select_settings(options.keys));
  TRY(const base::Settings settings, load_settings(globals));
  const std::string text = options.json ? base::settings_json(settings, which)
                                        : base::settings_table(settings, which, page_of_stdout());
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(Errc::io_failed, "cannot write the settings to standard output");
  return {};
}

}  // namespace

void add_config_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("config", "Show every setting, its value, its origin and its meaning");
  command->add_flag("--json", options->json, "As a JSON list");
  command->add_option("KEY", options->keys, "Only these settings");
  command->callback([options, &globals, &exit_code] {
    if (const auto printed = print_settings(globals, *options); !printed)
      exit_code = complain(printed.error());
  });
}

}  // namespace plimsoll
