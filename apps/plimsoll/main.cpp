// Entry point of plimsoll. Registers the commands, which have one file each.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "commands/ask_command.hpp"
#include "commands/chat_command.hpp"
#include "commands/config_command.hpp"
#include "commands/count_command.hpp"
#include "commands/doctor_command.hpp"
#include "commands/eval_command.hpp"
#include "commands/graph_command.hpp"
#include "commands/index_command.hpp"
#include "commands/inspect_command.hpp"
#include "commands/keys_command.hpp"
#include "commands/mcp_command.hpp"
#include "commands/memory_command.hpp"
#include "commands/model_command.hpp"
#include "commands/models_command.hpp"
#include "commands/plan_command.hpp"
#include "commands/search_command.hpp"
#include "commands/serve_command.hpp"
#include "commands/store_command.hpp"
#include "commands/strategy_command.hpp"
#include "commands/tokenizers_command.hpp"
#include "commands/usage_command.hpp"
#include "commands/wrap_command.hpp"
#include "describe/command_tree.hpp"
#include "describe/describe_commands.hpp"
#include "index/stores.hpp"
#include "terminal/globals.hpp"
#include "terminal/terminal.hpp"
#include "terminal/usage_error.hpp"
#include "terminal/version.hpp"

namespace {

constexpr const char* about =
    "Plimsoll manages the context window of an LLM: it counts tokens exactly, plans what goes into\n"
    "the window, and shows what was sent.\n";

constexpr const char* examples =
    "Examples:\n"
    "  plimsoll count README.md --model gpt-4o       tokens of a file and its share of the window\n"
    "  plimsoll count docs/*.md --tokenizer qwen3    a table with a total\n"
    "  plimsoll count --chat request.json --model llama3.1:8b\n"
    "  plimsoll strategy \"Summarize this\" --files report.md --model gpt-4o\n"
    "  plimsoll plan request.json --model mistral:7b divide the window and show what is left out\n"
    "  plimsoll index add manual docs                add documents to an index\n"
    "  plimsoll search manual \"which margin?\" --budget 500\n"
    "  plimsoll ask manual \"how is the margin chosen?\"  answer with its sources\n"
    "  plimsoll chat manual                          a conversation about your documents\n"
    "  plimsoll inspect --last                       plan and usage of the last request\n"
    "  plimsoll serve                                run the gateway for OpenAI, Anthropic and Ollama "
    "clients\n"
    "  plimsoll wrap python agent.py                 run a program with its own gateway\n"
    "  plimsoll keys add ann --tokens-per-day 200000 add an API key with a limit\n"
    "  plimsoll memory add \"Ann likes tea\"           store a fact for later conversations\n"
    "  plimsoll mcp                                  serve the tools to agents over MCP\n"
    "  plimsoll models --kind ollama                 models and their windows on this server\n"
    "  plimsoll model list                           models to download and run without a server\n"
    "  plimsoll tokenizers                           list tokenizers, sources and licences\n"
    "  plimsoll config                               show settings and where they come from\n"
    "  plimsoll doctor                               find problems and how to fix them\n";

// Formats options without ranges, exclusions and type names; error messages give those when they matter.
class PlainHelp final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!app->get_prefix_command()) return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + " COMMAND...\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string given = plimsoll::value_name(*option);
    if (option->get_type_size() == 0) return {};
    const bool is_positional = option->get_positional();
    const bool is_many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    return (is_positional || given.empty() ? "" : " " + given) + (is_many ? " ..." : "");
  }
};

// `plimsoll help` and `plimsoll help COMMAND`: the same text as `--help`.
void add_help_command(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Show the help of a command");
  command->footer(
      "Examples:\n"
      "  plimsoll help\n"
      "  plimsoll help index add\n");
  command->add_option("COMMAND", *words, "The command (default: list all commands)");
  command->callback([words, &app, &exit_code] {
    CLI::App* shown = &app;
    std::string path = "plimsoll";
    for (const std::string& word : *words) {
      const auto next = shown->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
      if (next.empty()) {
        fmt::print(stderr, "{}", plimsoll::no_such_command(*shown, path, word));
        exit_code = 2;
        return;
      }
      shown = next.front();
      path += " " + word;
    }
    // app.help() would show the help of `help`, the command that was parsed.
    const std::string text = app.get_formatter()->make_help(shown, path, CLI::AppFormatMode::Normal);
    if (const auto printed = plimsoll::print_out(text); !printed)
      exit_code = plimsoll::complain(printed.error());
  });
}

// Adds `--store FILE` to a command that uses the store, unless the command already has it.
void add_store_option(CLI::App& command, plimsoll::Globals& globals) {
  const auto nested = command.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* each : nested) add_store_option(*each, globals);
  if (!nested.empty() || command.get_option_no_throw("--store") != nullptr) return;
  command
      .add_option_function<std::string>(
          "--store",
          [&globals](const std::string& given) {
            for (std::string& one : plimsoll::store_assignments(given)) globals.set.push_back(std::move(one));
          },
          "Database file (default: the setting store or store_file)")
      ->type_name("PATH");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(about, "plimsoll");
  app.require_subcommand(1);
  app.formatter(std::make_shared<PlainHelp>());
  app.set_version_flag("--version", plimsoll::version_text, "Show version, commit, processor and tokenizers");

  plimsoll::Globals globals;
  int exit_code = 0;
  app.add_option("--config", globals.config_file,
                 "Settings file (default: plimsoll.toml in the user's configuration folder)")
      ->type_name("FILE");
  app.add_option("--set", globals.set, "Set a setting for this run; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  plimsoll::add_count_command(app, globals, exit_code);
  plimsoll::add_strategy_command(app, globals, exit_code);
  plimsoll::add_plan_command(app, globals, exit_code);
  plimsoll::add_index_command(app, globals, exit_code);
  plimsoll::add_search_command(app, globals, exit_code);
  plimsoll::add_graph_command(app, globals, exit_code);
  plimsoll::add_ask_command(app, globals, exit_code);
  plimsoll::add_chat_command(app, globals, exit_code);
  plimsoll::add_eval_command(app, globals, exit_code);
  plimsoll::add_inspect_command(app, globals, exit_code);
  plimsoll::add_serve_command(app, globals, exit_code);
  plimsoll::add_wrap_command(app, globals, exit_code);
  plimsoll::add_keys_command(app, globals, exit_code);
  plimsoll::add_store_command(app, globals, exit_code);
  plimsoll::add_usage_command(app, globals, exit_code);
  plimsoll::add_memory_command(app, globals, exit_code);
  plimsoll::add_mcp_command(app, globals, exit_code);
  plimsoll::add_model_command(app, globals, exit_code);
  plimsoll::add_models_command(app, globals, exit_code);
  plimsoll::add_tokenizers_command(app, globals, exit_code);
  plimsoll::add_config_command(app, globals, exit_code);
  plimsoll::add_doctor_command(app, globals, exit_code);
  add_help_command(app, exit_code);
  plimsoll::add_describe_commands(app, exit_code);

  app.footer(examples);  // after the commands, or they would inherit it
  for (const char* name : {"index", "search", "graph", "ask", "chat", "mcp", "doctor", "models"})
    add_store_option(*app.get_subcommand(name), globals);
  app.failure_message(plimsoll::usage_error);
  if (argc == 1) {
    const auto printed = plimsoll::print_out(app.help());
    return printed ? 0 : plimsoll::complain(printed.error());
  }
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    plimsoll::leave_out_separator(words);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;  // 2: wrong usage, as in all commands
  }
  return exit_code;
}
