#include "commands/wrap_command.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json/json_text.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/plan/read_plan.hpp"
#include "index/stores.hpp"
#include "serve/serve_keys.hpp"
#include "serve/served_gateway.hpp"
#include "serve/wrapped_program.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using base::with_thousands;

constexpr const char* wrap_examples =
    "The gateway listens on a free local port while the program runs. The program finds it through\n"
    "OPENAI_BASE_URL, ANTHROPIC_BASE_URL and OLLAMA_HOST; agents also get the real window of the model.\n"
    "At the end a table shows what was used and left out; `plimsoll inspect` shows each request.\n"
    "\n"
    "Examples:\n"
    "  plimsoll wrap python agent.py                   whatever client it uses, its models are asked through "
    "plimsoll\n"
    "  plimsoll wrap --model qwen3:8b goose session    pass this model and its window to the agent\n"
    "  plimsoll wrap --upstream http://gpu:8000/v1 aider --model openai/qwen3\n"
    "  plimsoll wrap env                               show the environment variables\n";

struct WrapOptions {
  std::vector<std::string> upstreams, command;
  std::string model, key, store;
};

struct Window {
  std::string model;
  Tokens tokens = 0;
};

std::vector<Window> served_windows(ServedGateway& gateway) {
  std::vector<Window> out;
  for (const models::UpstreamList& member : *gateway.upstreams().models()) {
    for (const auto& listed : member.models) {
      const auto found = gateway.upstreams().find(listed.name);
      if (!found) continue;
      const auto model = gateway.engine().models.open(*found, gateway.for_a_list());
      if (model) out.push_back({listed.name, model->window.tokens});
    }
  }
  return out;
}

// Returns model metadata in the format of LiteLLM, which aider and others read.
std::string metadata_of(const std::vector<Window>& windows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Window& window : windows)
    all["openai/" + window.model] = {{"max_tokens", window.tokens},
                                     {"max_input_tokens", window.tokens},
                                     {"litellm_provider", "openai"},
                                     {"mode", "chat"}};
  return base::readable_json(all);
}

// Keeps a variable that the user has set.
void add_if_unset(Variables& variables, const char* name, std::string value) {
  if (std::getenv(name) == nullptr) variables[name] = std::move(value);
}

void add_addresses(Variables& variables, const std::string& address) {
  for (const char* name : {"OPENAI_BASE_URL", "OPENAI_API_BASE"}) variables[name] = address + "/v1";
  variables["ANTHROPIC_BASE_URL"] = address;
  variables["OLLAMA_HOST"] = address;
  // These clients refuse to start without a key, even if the gateway needs none.
  for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"})
    add_if_unset(variables, name, "none-needed");
}

void add_model(Variables& variables, const std::string& model) {
  for (const char* name : {"OPENAI_MODEL", "ANTHROPIC_MODEL", "GOOSE_MODEL"})
    add_if_unset(variables, name, model);
}

void add_window(Variables& variables, Tokens window) {
  for (const char* name :
       {"GOOSE_CONTEXT_LIMIT", "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_CODE_MAX_CONTEXT_TOKENS"})
    add_if_unset(variables, name, std::to_string(window));
}

// Returns the window to pass on: that of the named model, or of the only model.
Result<const Window*> told_window(const std::vector<Window>& windows, const std::string& model) {
  if (model.empty()) return windows.size() == 1 ? windows.data() : nullptr;
  for (const Window& window : windows)
    if (window.model == model) return &window;
  std::string names;
  for (const Window& window : windows) names += (names.empty() ? "" : ", ") + window.model;
  return fail(Errc::unknown_model, "no upstream has the model '{}'; available: {}", model,
              names.empty() ? "none" : names);
}

// ---- Summary of its requests ----

struct Sum {
  std::int64_t requests = 0, refused = 0, left_out = 0, summaries = 0;
  Tokens read = 0, written = 0, cut = 0;
};

void add(Sum& sum, const Trace& trace) {
  ++sum.requests;
  const bool refused = number_of(trace.code) >= 400;
  if (refused) ++sum.refused;
  sum.read = add_used(sum.read, trace.usage.input.value_or(refused ? 0 : trace.input));
  sum.written = add_used(sum.written, trace.usage.answer.value_or(0));
  sum.cut = add_used(sum.cut, trace.cut);
  const auto plan = trace.plan.empty() ? tl::unexpected(Error{}) : engine::read_plan(trace.plan);
  if (!plan) return;
  for (const PlannedPiece& piece : plan->pieces)
    if (piece.fate != Fate::kept) ++sum.left_out;
  if (plan->summary) ++sum.summaries;
}

std::string report(const std::map<std::string, Sum>& sums, const Terminal& terminal) {
  Table table{{"MODEL", "REQUESTS", "FAILED", "READ", "WRITTEN", "LEFT OUT", "SUMMARIES", "CUT UPSTREAM"},
              {false, true, true, true, true, true, true, true},
              {},
              false};
  for (const auto& [model, sum] : sums)
    table.rows.push_back({printable(model), with_thousands(sum.requests), with_thousands(sum.refused),
                          with_thousands(sum.read), with_thousands(sum.written), with_thousands(sum.left_out),
                          with_thousands(sum.summaries), with_thousands(sum.cut)});
  return draw(table, terminal);
}

// Adds up the traces after the id `after`.
Result<std::map<std::string, Sum>> sums_since(TraceStore& traces, std::string after) {
  constexpr std::size_t at_once = 500;
  std::map<std::string, Sum> sums;
  while (true) {
    TRY(const auto some,
        traces.traces({}, {.after = after, .limit = at_once, .oldest_first = true, .as_kept = true}));
    for (const Trace& trace : some) add(sums[trace.model.empty() ? trace.asked_model : trace.model], trace);
    if (some.size() < at_once) return sums;
    after = some.back().id;
  }
}

Result<int> run(const Globals& globals, const WrapOptions& options) {
  Globals with = globals;
  if (!options.store.empty())
    for (std::string& one : store_assignments(options.store)) with.set.push_back(std::move(one));
  // Keeps log lines out of the program's output, unless the user sets a level.
  with.set.insert(with.set.begin(), "log_level=error");
  TRY(const config::Settings settings, load_settings(with));
  (void)std::signal(SIGPIPE, SIG_IGN);
  TRY(auto members, gateway_upstreams(settings, options.upstreams));
  TRY(const auto gateway, ServedGateway::open(settings, std::move(members)));
  if (gateway->has_keys() && options.key.empty())
    return fail(Errc::bad_input,
                "this store requires an API key: give one with --key KEY; `plimsoll keys add NAME` adds one");
  TRY(const auto lock, take_store(settings, *gateway->chat().context().sessions));
  TRY_VOID(gateway->listen({.host = "127.0.0.1", .port = 0}));
  gateway->upstreams().refresh(gateway->for_a_list());
  const std::vector<Window> windows = served_windows(*gateway);
  TRY(const Window* window, told_window(windows, options.model));

  Variables variables;
  add_addresses(variables, fmt::format("http://127.0.0.1:{}", gateway->server().port()));
  if (!options.key.empty())
    for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}) variables[name] = options.key;
  if (!options.model.empty()) add_model(variables, options.model);
  if (window != nullptr) add_window(variables, window->tokens);
  const base::TemporaryFolder folder("wrap");
  if (!windows.empty() && !folder.path().empty()) {
    const std::string file = (folder / "models.json").string();
    TRY_VOID(base::write_atomically(file, metadata_of(windows)));
    add_if_unset(variables, "AIDER_MODEL_METADATA_FILE", file);
  }

  TRY(const auto newest, gateway->traces().traces({}, {.limit = 1, .as_kept = true}));
  TRY(const int status, run_program(options.command, variables));
  (void)gateway->server().drain();
  if (gateway->engine().traces != nullptr) gateway->engine().traces->flush();
  TRY(const auto sums, sums_since(gateway->traces(), newest.empty() ? "" : newest.front().id));
  const std::string text =
      sums.empty() ? "plimsoll: the gateway got no requests\n" : "\n" + report(sums, terminal_of_stdout());
  fmt::print(stderr, "{}", text);
  return status;
}

}  // namespace

void leave_out_separator(std::vector<std::string>& words) {
  auto word = std::ranges::find(words, "wrap");
  if (word == words.end()) return;
  ++word;
  const auto is_option = [](const std::string& one) { return one.starts_with('-') && one != "--"; };
  while (word != words.end() && is_option(*word)) {
    const bool has_value =
        !word->starts_with("--help") && *word != "-h" && word->find('=') == std::string::npos;
    ++word;
    if (has_value && word != words.end()) ++word;
  }
  if (word != words.end() && *word == "--") words.erase(word);
}

void add_wrap_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<WrapOptions>();
  CLI::App* command = app.add_subcommand("wrap", "Run a program with its own gateway in front of its models");
  command->footer(wrap_examples);
  command->prefix_command();
  command->add_option("--upstream", options->upstreams, "Model server; may be repeated")
      ->type_name("[NAME=]URL|embedded")
      ->allow_extra_args(false);
  command->add_option("--model", options->model, "Pass this model and its window to the program")
      ->type_name("NAME");
  command->add_option("--key", options->key, "API key for this gateway, if the store requires one")
      ->type_name("KEY");
  command->add_option("--store", options->store, "Database file (default: the setting store or store_file)")
      ->type_name("FILE");
  command->callback([command, options, &globals, &exit_code] {
    options->command = command->remaining();
    if (options->command.empty()) {
      exit_code = complain(Error{Errc::bad_input, "give the program to run: plimsoll wrap COMMAND..."});
      return;
    }
    const auto status = run(globals, *options);
    exit_code = status ? *status : complain(status.error());
  });
}

}  // namespace plimsoll
