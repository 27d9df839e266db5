#include "commands/plan_command.hpp"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "plimsoll/plan.hpp"
#include "reports/plan_report.hpp"
#include "serve/find_window.hpp"
#include "serve/known_models.hpp"
#include "serve/plan_options.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr int does_not_fit = 3;
constexpr std::uint64_t largest_request = std::uint64_t{256} << 20;

struct PlanCommand {
  std::string request;
  std::string model;
  std::string policy;
  std::string upstream;
  std::string kind;
  std::vector<std::string> fallback;
  Tokens window = 0;
  Tokens max_tokens = 0;
  bool json = false;
  bool emit = false;
};

bool asks_server(const PlanCommand& command) {
  return !command.upstream.empty() || !command.kind.empty();
}

// Returns the window that overrides the catalogue: from the flag, the setting or the server.
Result<std::optional<Window>> window_of(const PlanCommand& command, const config::Settings& settings,
                                        const ModelCatalogue& catalogue, const std::string& model) {
  if (command.window > 0)
    return Window{command.window, WindowSource::configured, Confidence::high, {{"--window", "taken"}}};
  if (asks_server(command)) {
    TRY(Window found, find_window(settings, catalogue, model, command.upstream, command.kind));
    return found;
  }
  if (settings.llm_context_window)
    return Window{*settings.llm_context_window,
                  WindowSource::configured,
                  Confidence::high,
                  {{"llm_context_window", std::string(settings.origin_of("llm_context_window"))}}};
  return std::nullopt;
}

PlanOptions options_of(const PlanCommand& command, const config::Settings& settings) {
  PlanOptions options = plan_options(settings);
  if (command.max_tokens > 0) options.max_tokens = command.max_tokens;
  options.policy = policy_named(command.policy);
  if (!command.fallback.empty()) {
    options.fallback = true;
    options.fallback_models = command.fallback;
  }
  return options;
}

Result<std::string> model_of(const PlanCommand& command, const std::string& body) {
  if (!command.model.empty()) return command.model;
  const auto json = nlohmann::json::parse(body, nullptr, false);
  std::string named = json.is_object() && json.contains("model") && json["model"].is_string()
                          ? json["model"].get<std::string>()
                          : "";
  if (!named.empty()) return named;
  return fail(Errc::bad_input,
              "the request names no model; give one with --model, for example --model gpt-4o");
}

Result<int> run(const Globals& globals, const PlanCommand& command) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const std::string body,
      base::read_file(command.request == "-" ? "/dev/stdin" : command.request, largest_request));
  TRY(const std::string model, model_of(command, body));
  TRY(const ModelCatalogue catalogue, known_models(settings));
  const TokenizerLibrary library = library_of(settings);
  TRY(std::optional<Window> window, window_of(command, settings, catalogue, model));
  CatalogueModels models(catalogue, library, settings.default_context_window);
  if (window) models.set_window(model, *std::move(window));
  const PlanOptions options = options_of(command, settings);
  if (asks_server(command) && options.fallback) {
    for (const std::string& name : options.fallback_models) {
      TRY(Window served, find_window(settings, catalogue, name, command.upstream, command.kind));
      if (name != model) models.set_window(name, std::move(served));
    }
  }
  TRY(const Plan plan, plan_request(body, model, options, models));
  if (command.emit && !plan.fits) {  // standard output must not look like a request
    fmt::print(stderr, "{}", plan_report(plan, {}));
    return does_not_fit;
  }
  TRY_VOID(print_out(command.emit   ? plan.request + "\n"
                     : command.json ? plan_json(plan)
                                    : plan_report(plan, terminal_of_stdout())));
  return plan.fits ? 0 : does_not_fit;
}

constexpr const char* about_plan =
    "Plan a chat request: how the window is divided, what is left out, and why.\n"
    "Nothing is sent. Exit status: 0 it fits, 3 it does not fit, 2 wrong usage.";

constexpr const char* plan_examples =
    "Examples:\n"
    "  plimsoll plan request.json --model llama3.2:3b --window 4096\n"
    "  plimsoll plan request.json --model llama3.2:3b --upstream http://localhost:11434\n"
    "  plimsoll plan request.json --max-tokens 2000 --policy documents\n"
    "  plimsoll plan request.json --model gpt-4 --fallback gpt-5-mini,gemini-2.5-flash\n"
    "  plimsoll plan - --model qwen2.5:7b --json < request.json\n"
    "  plimsoll plan request.json --model mistral:7b --emit > fitted.json\n"
    "\n"
    "The request is the body of an OpenAI chat completion. Its field \"plimsoll\" may hold \"policy\",\n"
    "\"thinking\" (tokens), \"passages\" [{id, text, score}] and \"memories\" [{id, text, importance}].\n"
    "\n"
    "Policies: balanced   shortens the answer first, down to 500; then facts, turns and passages alike\n"
    "          history    keeps turns as long as possible\n"
    "          documents  keeps passages as long as possible\n"
    "          answer     keeps the full length of the answer\n"
    "          strict     drops no turn, fact or passage; the request fails instead\n"
    "          document-chat  limits passages by rule B1 (MAX_TOP_K, CONTEXT_SAFETY_MARGIN, ...)\n";

}  // namespace

void add_plan_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App* sub = app.add_subcommand("plan", about_plan);
  sub->footer(plan_examples);
  sub->add_option("REQUEST", command->request, "File with the request; -: standard input")->required();
  sub->add_option("--model", command->model, "The model (default: the model of the request)");
  sub->add_option("--window", command->window, "The model's window in tokens; overrides all other sources")
      ->check(CLI::Range(Tokens{1}, budget::most_tokens));
  sub->add_option("--upstream", command->upstream, "Ask this server for the model's window")
      ->type_name("URL");
  sub->add_option("--kind", command->kind, "Kind of that server (default: detected)");
  sub->add_option("--max-tokens", command->max_tokens, "Most tokens of the answer; overrides the request")
      ->check(CLI::Range(Tokens{1}, budget::most_tokens));
  const auto names = policy_names();
  sub->add_option("--policy", command->policy,
                  "Which parts are cut first (default: the request's policy, or balanced)")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  sub->add_option("--fallback", command->fallback, "Fallback models if the window is too small, best first")
      ->delimiter(',')
      ->type_name("MODEL,...");
  CLI::Option* json = sub->add_flag("--json", command->json, "Print the whole plan as JSON");
  sub->add_flag("--emit", command->emit, "Print only the request as it would be sent")->excludes(json);
  sub->callback([command, &globals, &exit_code] {
    const auto code = run(globals, *command);
    exit_code = code ? *code : complain(code.error());
  });
}

}  // namespace plimsoll
