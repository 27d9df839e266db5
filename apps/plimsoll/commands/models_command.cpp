#include "commands/models_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "reports/models_report.hpp"
#include "serve/find_window.hpp"
#include "serve/known_models.hpp"
#include "serve/serve_upstreams.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

struct ModelsOptions {
  std::vector<std::string> names;
  std::string upstream;
  std::string kind;
  std::optional<double> timeout;
  bool refresh = false;
  bool forget = false;
  bool catalogue = false;
  bool json = false;
};

// Shows on a terminal what the program waits for; the line is cleared afterwards.
class Waiting {
 public:
  explicit Waiting(std::string_view what) : shown_(::isatty(STDERR_FILENO) != 0) { say(what); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void say(std::string_view what) const {
    if (shown_) fmt::print(stderr, "\r\033[K{}", printable(what));
  }

 private:
  bool shown_;
};

bool is_gguf(const std::string& name) {
  return base::to_lower_ascii(name).ends_with(".gguf");
}

bool contains(const ModelCard& card, std::string_view part) {
  const auto has = [&](const std::string& name) {
    return base::to_lower_ascii(name).find(part) != std::string::npos;
  };
  return has(card.name) || std::ranges::any_of(card.aliases, has);
}

// Returns the models whose name contains the text; if none does, the best match for it.
Result<std::vector<const ModelCard*>> chosen_cards(const ModelCatalogue& catalogue,
                                                   const std::vector<std::string>& names) {
  std::vector<const ModelCard*> cards;
  for (const ModelCard& card : catalogue.models())
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
          return contains(card, base::to_lower_ascii(name));
        }))
      cards.push_back(&card);
  for (const std::string& name : names) {
    const std::string part = base::to_lower_ascii(name);
    if (std::ranges::any_of(cards, [&](const ModelCard* card) { return contains(*card, part); })) continue;
    const auto match = catalogue.find(name);
    if (!match) {
      const auto near = catalogue.nearest(part);
      return fail(
          Errc::unknown_model, "no model name in the catalogue contains '{}'; {}", name,
          near ? fmt::format("did you mean '{}'?", *near) : "`plimsoll models --catalogue` lists all models");
    }
    if (std::ranges::find(cards, match->card) == cards.end()) cards.push_back(match->card);
  }
  return cards;
}

Result<void> show_catalogue(const ModelCatalogue& catalogue, const ModelsOptions& options) {
  TRY(const auto cards, chosen_cards(catalogue, options.names));
  return print_out(options.json ? catalogue_json(cards) : catalogue_table(cards, terminal_of_stdout()));
}

std::optional<FoundWindows::Seconds> timeout_of(const ModelsOptions& options) {
  return options.timeout ? std::optional(FoundWindows::Seconds(*options.timeout)) : std::nullopt;
}

EarlierRuns earlier_runs(const ModelsOptions& options) {
  return options.refresh ? EarlierRuns::forgotten : EarlierRuns::believed;
}

// Lists the models of the configured servers as the gateway does, filtered by parts of names if given. Empty:
// no server is configured, none answered, or no model matches.
Result<std::vector<ServerModels>> configured_models(const config::Settings& settings,
                                                    const ModelCatalogue& catalogue,
                                                    const ModelsOptions& options) {
  TRY(const auto members, configured_members(settings));
  std::vector<ServerModels> all;
  if (members.empty()) return all;
  FoundWindows windows(settings, catalogue, earlier_runs(options), timeout_of(options));
  for (const models::ConfiguredUpstream& member : members) {
    const Waiting waiting("asking " + member.server.shown);
    auto listed = windows.finder().list(member.server, windows.for_a_list());
    if (!listed) {
      fmt::print(stderr, "plimsoll: {}\n", printable(listed.error().what));
      continue;
    }
    std::erase_if(*listed, [&](const models::ListedModel& model) {
      const std::string name = base::to_lower_ascii(model.name);
      return !options.names.empty() && std::ranges::none_of(options.names, [&](const std::string& part) {
        return name.find(base::to_lower_ascii(part)) != std::string::npos;
      });
    });
    if (!listed->empty()) all.push_back({member.name, member.server, *std::move(listed)});
  }
  return all;
}

Result<void> show_served(const config::Settings& settings, const ModelCatalogue& catalogue,
                         const ModelsOptions& options, const models::Upstream* upstream) {
  FoundWindows windows(settings, catalogue, earlier_runs(options), timeout_of(options));
  std::vector<models::ListedModel> models;
  {
    const Waiting waiting(upstream == nullptr ? "reading" : "asking " + upstream->shown);
    if (upstream != nullptr && options.names.empty()) {
      TRY(models, windows.finder().list(*upstream, windows.for_a_list(),
                                        [&](std::size_t done, std::size_t all, std::string_view name) {
                                          waiting.say(fmt::format("[{}/{}] {}", done + 1, all, name));
                                        }));
    }
    for (const std::string& name : options.names)
      models.push_back({name, windows.finder().find(name, upstream, windows.for_one_model())});
  }
  return print_out(options.json ? served_json(models, catalogue, upstream)
                                : served_table(models, catalogue, upstream, terminal_of_stdout()));
}

// Deletes learned values from the store and from the file of windows. A gateway that runs on the same store
// notices.
Result<void> forget_learned(const Globals& globals, const config::Settings& settings,
                            const ModelsOptions& options) {
  TRY_VOID(check_named_store(globals, settings));
  TRY(const std::size_t windows, forget_windows(options.names));
  std::int64_t drift = 0;
  if (has_store(settings)) {
    TRY(auto traces, open_traces(settings, /*create=*/false));
    const std::vector<std::string> all{""};
    for (const std::string& name : options.names.empty() ? all : options.names) {
      TRY(const std::int64_t found, traces->forget_drift(name));
      drift += found;
    }
  }
  return print_out(fmt::format("Forgot {} and {} of drift. A running gateway on {} notices within seconds.\n",
                               several(windows, "window"),
                               several(static_cast<std::uint64_t>(drift), "record"), shown_store(settings)));
}

Result<void> run(const Globals& globals, const ModelsOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  if (options.forget) return forget_learned(globals, settings, options);
  TRY(const ModelCatalogue catalogue, known_models(settings));
  TRY(const auto upstream, upstream_for(settings, options.upstream, options.kind));
  if (upstream) return show_served(settings, catalogue, options, &*upstream);
  if (!options.names.empty() && std::ranges::all_of(options.names, is_gguf)) {
    for (const std::string& name : options.names)
      if (std::error_code unknown; !std::filesystem::is_regular_file(name, unknown))
        return fail(Errc::not_found, "no such file: '{}'", name);
    return show_served(settings, catalogue, options, nullptr);
  }
  if (!options.catalogue) {
    TRY(const auto servers, configured_models(settings, catalogue, options));
    if (!servers.empty())
      return print_out(options.json ? servers_json(servers, catalogue)
                                    : servers_table(servers, catalogue, terminal_of_stdout()));
  }
  return show_catalogue(catalogue, options);
}

constexpr const char* models_examples =
    "`plimsoll model` (without the s) is another command: it downloads models that run without a server.\n"
    "\n"
    "Examples:\n"
    "  plimsoll models                                 models of the configured servers; without any, the\n"
    "                                                  catalogue\n"
    "  plimsoll models qwen3                           models whose name contains qwen3\n"
    "  plimsoll models --catalogue                     the built-in catalogue; no server is asked\n"
    "  plimsoll models --kind ollama                   models and windows of the local Ollama\n"
    "  plimsoll models --upstream http://gpu-box:8000  models of any server; its kind is detected\n"
    "  plimsoll models llama3.2:3b --kind ollama       one model\n"
    "  plimsoll models ./model.gguf                    the window stored in a GGUF file\n"
    "  plimsoll models --forget llama3.2:3b            forget what was learned about this model\n"
    "  plimsoll models --forget --store other.db       forget what another store learned, of all models\n";

}  // namespace

void add_models_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App* command =
      app.add_subcommand("models", "List models and their windows, from servers or from the catalogue");
  command->footer(models_examples);
  command->add_option(
      "NAME", options->names,
      "Parts of model names; with --upstream or --kind, models of that server; or .gguf files");
  command->add_option("--upstream", options->upstream, "URL of a model server")->type_name("URL");
  command
      ->add_option("--kind", options->kind,
                   "ollama, llama.cpp, vllm, kaito, openrouter, lmstudio, tgi, gemini, anthropic or openai "
                   "(default: detected)")
      ->type_name("KIND");
  command->add_flag("--catalogue", options->catalogue, "Show the catalogue; ask no server");
  command->add_flag("--refresh", options->refresh, "Ignore cached windows and ask the servers again");
  command->add_flag(
      "--forget", options->forget,
      "Forget learned windows and drift of the models with exactly these names, or of all models");
  command
      ->add_option(
          "--timeout", options->timeout,
          "Time limit in seconds for one model (default: window_timeout_seconds); a list may take six "
          "times as long")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 600.0));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
