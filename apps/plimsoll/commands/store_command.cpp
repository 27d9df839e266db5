#include "commands/store_command.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/copy/copy_tables.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct StoreCopyOptions {
  std::string from, to;
  bool quiet = false, json = false;
};

std::string_view shown_step(base::CopyStep step) {
  switch (step) {
    case base::CopyStep::comparing: return "comparing";
    case base::CopyStep::copying: return "copying";
    case base::CopyStep::verifying: return "verifying";
  }
  return "";
}

std::string report_json(const base::CopyReport& report) {
  Json tables = Json::array();
  for (const base::CopyReport::Table& table : report.tables)
    tables.push_back(
        {{"table", table.name}, {"rows", table.rows}, {"checksum", fmt::format("{:016x}", table.checksum)}});
  return Json{{"copied", report.copied}, {"stopped", report.stopped}, {"tables", std::move(tables)}}.dump(2) +
         "\n";
}

std::string report_text(const base::CopyReport& report) {
  if (report.stopped)
    return fmt::format("stopped after {}; the same command goes on there\n",
                       several(static_cast<std::uint64_t>(report.copied), "row"));
  Table drawn{{"TABLE", "ROWS", "CHECKSUM"}, {false, true, false}, {}, false};
  for (const base::CopyReport::Table& table : report.tables)
    drawn.rows.push_back(
        {table.name, base::with_thousands(table.rows), fmt::format("{:016x}", table.checksum)});
  return draw(drawn, terminal_of_stdout()) +
         fmt::format("copied {}; counts and checksums agree\n",
                     several(static_cast<std::uint64_t>(report.copied), "row"));
}

Result<int> copy(const Globals& globals, const StoreCopyOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  const config::Settings source = with_store(settings, options.from),
                         target = with_store(settings, options.to);
  if (is_same_store(source, target))
    return fail(Errc::bad_input, "FROM and TO are the same store, {}", shown_store(source));
  TRY(const auto from, open_tables(source, /*create=*/false));
  TRY(const auto to, open_tables(target, /*create=*/true));
  const Interrupt interrupt;
  std::optional<ProgressBar> bar;
  auto report = base::copy_tables(*from, *to, [&](const base::CopyProgress& now) {
    if (!bar) bar.emplace(static_cast<std::uint64_t>(now.total), "row", options.quiet || options.json);
    bar->show(static_cast<std::uint64_t>(now.done), static_cast<std::uint64_t>(now.done),
              fmt::format("{} {}", shown_step(now.step), now.table));
    return !interrupt.wanted();
  });
  bar.reset();
  if (!report) return tl::unexpected<Error>(report.error());
  TRY_VOID(print_out(options.json ? report_json(*report) : report_text(*report)));
  return report->stopped ? 130 : 0;
}

constexpr const char* copy_footer =
    "FROM and TO are files, or URLs of PostgreSQL servers. Copies documents with their vectors, keys, "
    "usage,\n"
    "conversations, kept responses, evaluations, memories, traces and learned drift. TO must be empty, or "
    "have\n"
    "the beginning of an interrupted copy of FROM, which is then continued. Afterwards both are read and "
    "their\n"
    "counts and checksums compared. FROM can be read meanwhile; stop what writes to it, or the copy is "
    "refused.\n"
    "Search data is not copied: it is rebuilt at first use. Without a password in a URL, PGPASSWORD and\n"
    "~/.pgpass are used.\n\n"
    "Examples:\n"
    "  plimsoll store copy ~/.local/share/plimsoll/store.db postgres://plimsoll@db.internal/plimsoll\n"
    "  plimsoll store copy postgres://plimsoll@db.internal/plimsoll backup.db\n";

}  // namespace

void add_store_command(CLI::App& app, const Globals& globals, int& exit_code) {
  CLI::App* store = app.add_subcommand("store", "Copy a store into another");
  store->require_subcommand(1);
  auto options = std::make_shared<StoreCopyOptions>();
  CLI::App* command = store->add_subcommand("copy", "Copy everything that one store holds into another");
  command->footer(copy_footer);
  command->add_option("FROM", options->from, "The store to read: a file or a URL")->required();
  command->add_option("TO", options->to, "The store to fill: a file, which is created, or a URL")->required();
  command->add_flag("--quiet", options->quiet, "No progress bar");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &globals, &exit_code] {
    const auto done = copy(globals, *options);
    exit_code = done ? *done : complain(done.error());
  });
}

}  // namespace plimsoll
