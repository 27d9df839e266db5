#include "commands/plan_command.hpp"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "engine/plan/plan_options.hpp"
#include "plimsoll/plan.hpp"
#include "reports/plan_report.hpp"
#include "serve/find_window.hpp"
#include "serve/known_models.hpp"
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

// What stands above the catalogue: the flag, the setting, or the server's word.
Result<std::optional<Window>> window_of(const PlanCommand& command, const base::Settings& settings,
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

PlanOptions options_of(const PlanCommand& command, const base::Settings& settings) {
  PlanOptions options = engine::plan_options(settings);
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
  const std::string named = json.is_object() && json.contains("model") && json["model"].is_string()
                                ? json["model"].get<std::string>()
                                : "";
  if (!named.empty()) return named;
  return fail(Errc::bad_input, "the request names no model; name one with --model, as in --model gpt-4o");
}

Result<int> run(const Globals& globals, const PlanCommand& command) {
  TRY(const base::Settings settings, load_settings(globals));
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
  if (command.emit && !plan.fits) {  // nothing on standard output that could be taken for a request
    fmt::print(stderr, "{}", plan_report(plan, {}));
    return does_not_fit;
  }
  TRY_VOID(print_out(command.emit   ? plan.request + "\n"
                     : command.json ? plan_json(plan)
                                    : plan_report(plan, terminal_of_stdout())));
  return plan.fits ? 0 : does_not_fit;
}

constexpr const char* about =
    "Plan a chat request: who gets how much of the window, what is left out and why.\n"
    "Nothing is sent. Exit status: 0 it fits, 3 it does not, 2 something given is wrong.";

constexpr const char* examples =
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
    "Policies: balanced   the answer gives way first, down to 500; then facts, turns and passages alike\n"
    "          history    turns stay as long as they can\n"
    "          documents  passages stay as long as they can\n"
    "          answer     the answer stays as long as it was asked for\n"
    "          strict     no turn, fact or passage is left out: the request fails instead\n"
    "          document-chat  passages are bounded by rule B1 (MAX_TOP_K, CONTEXT_SAFETY_MARGIN, ...)\n";

}  // namespace

void add_plan_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App* sub = app.add_subcommand("plan", about);
  sub->footer(examples);
  sub->add_option("REQUEST", command->request, "File with the request; -: standard input")->required();
  sub->add_option("--model", command->model, "The model (default: the one that the request names)");
  sub->add_option("--window", command->window, "Its window in tokens, above all else that is known")
      ->check(CLI::Range(Tokens{1}, budget::most_tokens));
  sub->add_option("--upstream", command->upstream, "Ask this server for the window that it serves")
      ->type_name("URL");
  sub->add_option("--kind", command->kind, "What kind of server that is (default: found out)");
  sub->add_option("--max-tokens", command->max_tokens, "Longest answer, above what the request says")
      ->check(CLI::Range(Tokens{1}, budget::most_tokens));
  const auto names = policy_names();
  sub->add_option("--policy", command->policy, "Who gives way to whom (default: the request's, or balanced)")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  sub->add_option("--fallback", command->fallback,
                  "Models to move to where this one is too small, best first")
      ->delimiter(',')
      ->type_name("MODEL,...");
  CLI::Option* json = sub->add_flag("--json", command->json, "The whole plan as JSON");
  sub->add_flag("--emit", command->emit, "The request as it would be sent, and nothing else")->excludes(json);
  sub->callback([command, &globals, &exit_code] {
    const auto code = run(globals, *command);
    exit_code = code ? *code : complain(code.error());
  });
}

}  // namespace plimsoll
