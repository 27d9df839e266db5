#include "commands/doctor_command.hpp"

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "reports/doctor_checks.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  std::vector<std::string> upstreams;
  bool json = false;
};

std::string as_json(const Diagnoses& all) {
  Json checks = Json::array();
  for (const Diagnosis& one : all)
    checks.push_back(
        {{"check", one.what}, {"status", name_of(one.health)}, {"found", one.found}, {"remedy", one.remedy}});
  const bool sound = std::ranges::none_of(all, [](const auto& one) { return one.health == Health::bad; });
  return base::readable_json(Json{{"sound", sound}, {"checks", std::move(checks)}});
}

std::string as_text(const Diagnoses& all, const Terminal& terminal) {
  std::size_t widest = 0;
  for (const Diagnosis& one : all) widest = std::max(widest, display_width(printable(one.what)));
  widest = std::min<std::size_t>(widest, 32);
  const std::size_t indent = 9 + widest + 2, width = drawing_width(terminal);
  std::string out;
  for (const Diagnosis& one : all) {
    const std::string what = printable(one.what);
    out += fmt::format("{:<9}", name_of(one.health)) + what;
    const std::size_t taken = display_width(what);
    out += std::string(taken < widest ? widest - taken + 2 : 2, ' ');
    out += wrap(printable(one.found, 400), width, indent) + "\n";
    if (one.remedy.empty()) continue;
    out += std::string(indent, ' ') + "-> " + wrap(printable(one.remedy, 400), width, indent + 3) + "\n";
  }
  return out;
}

Result<void> run(const Globals& globals, const DoctorOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  Diagnoses all;
  const auto add = [&](Diagnoses some) { std::ranges::move(some, std::back_inserter(all)); };
  add(check_files(settings));
  const auto named = check_named_store(globals, settings);
  add(named ? check_store(settings) : Diagnoses{{"store", Health::bad, named.error().what, ""}});
  add(check_models(settings));  // first: a damaged file is noted, and the embedder that needs it fails
  add(check_embedders(settings));
  add(check_upstreams(settings, options.upstreams));
  add(check_limits(settings));
  TRY_VOID(print_out(options.json ? as_json(all) : as_text(all, terminal_of_stdout())));
  const auto bad = std::ranges::count(all, Health::bad, &Diagnosis::health);
  if (bad == 0) return {};
  return fail(Errc::damaged, "{} of {} checks failed", bad, all.size());
}

constexpr const char* doctor_examples =
    "Checks the folders, the clock, the store and its indexes, the checksums of models, the embedders,\n"
    "the upstreams with the windows of their models, and the limits of this machine. Changes nothing\n"
    "except cached results. The exit status is 1 if a check fails.\n"
    "\n"
    "Examples:\n"
    "  plimsoll doctor                                 check the configured servers\n"
    "  plimsoll doctor --upstream http://gpu:8000/v1   check this server instead\n"
    "  plimsoll doctor --json | jq '.checks[] | select(.status != \"ok\")'\n";

}  // namespace

void add_doctor_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Check everything the gateway needs, and say how to fix problems");
  command->footer(doctor_examples);
  command->add_option("--upstream", options->upstreams, "Model server; may be repeated")
      ->type_name("[NAME=]URL")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
