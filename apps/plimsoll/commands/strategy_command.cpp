#include "commands/strategy_command.hpp"

#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "input/count_choice.hpp"
#include "input/count_input.hpp"
#include "reports/strategy_report.hpp"
#include "serve/configured_servers.hpp"
#include "serve/known_models.hpp"

namespace plimsoll {
namespace {

constexpr const char* strategy_examples =
    "Examples:\n"
    "  plimsoll strategy \"Which requests failed on Monday?\" --files logs/*.txt\n"
    "  plimsoll strategy \"Summarize this\" --files report.md --model llama3.2:3b --used 1500\n"
    "  plimsoll strategy \"Compare the two contracts\" --hint large --window 32768 --tools "
    "read_file,web_search\n"
    "  plimsoll strategy \"Fix the build\" --chars 250000 --json\n"
    "\n"
    "STUFF pastes everything, HYBRID pastes what matters and retrieves the rest, RAG retrieves passages,\n"
    "RAG+GRAPH searches an index of entities first. Files are counted with the model's own tokenizer\n"
    "(o200k_base without a model); without files, --chars or --hint, 64,000 tokens are assumed.\n";

constexpr const char* default_tokenizer = "o200k_base";

struct StrategyOptions {
  std::vector<std::string> words;  // of the query
  std::vector<std::string> files;
  std::string hint;
  std::string model;
  std::vector<std::string> tools;
  Tokens window = 0;  // 0: not given
  Tokens used = 0;
  std::int64_t chars = 0;
  bool json = false;
};

// Returns a CLI11 check whose message says what is allowed.
std::function<std::string(const std::string&)> at_least(std::int64_t least) {
  return [least](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number >= least) return {};
    return fmt::format("'{}' is not a whole number of {} or more", text, least);
  };
}

Result<void> find_window(const config::Settings& settings, const StrategyOptions& options,
                         StrategyFindings& found, StrategyAsk& ask) {
  found.window_source = "default";
  if (!options.model.empty()) {
    TRY(const ModelCatalogue catalogue, known_models(settings));
    const bool decided = options.window > 0 || settings.llm_context_window;  // no server needs to be asked
    const TokenizerLibrary library = library_of(settings);
    if (!decided) {
      TRY(const auto servers, ConfiguredServers::open(settings, catalogue, library));
      if (const auto served = servers->model(options.model)) {
        found.model = served->name;
        ask.model_context_length = served->window.tokens;
        found.window_source = name_of(served->window.source);
        return {};
      }
    }
    const auto match = catalogue.find(options.model);
    if (!match)
      return fail(Errc::unknown_model,
                  "the catalogue has {}; give --window instead of --model, or add the model to a models_file",
                  catalogue.no_entry_for(options.model));
    found.model = match->card->name;
    ask.model_context_length = match->card->window;
    found.window_source =
        match->kind == MatchKind::partial ? "catalogue, nearest related model" : "catalogue";
  }
  if (settings.llm_context_window) {
    ask.model_context_length = *settings.llm_context_window;
    found.window_source = "configured";
  }
  if (options.window > 0) {
    ask.model_context_length = options.window;
    found.window_source = "given";
  }
  return {};
}

// Estimates a file that cannot be counted from its size.
std::optional<WeighedFile> estimated_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return {};
  return WeighedFile{path, static_cast<std::int64_t>(bytes), static_cast<Tokens>(bytes / 4), false, {}};
}

Result<void> weigh_files(const config::Settings& settings, const StrategyOptions& options,
                         StrategyFindings& found, StrategyAsk& ask) {
  if (options.files.empty()) return {};
  const TokenizerLibrary library = library_of(settings);
  CountOptions wanted;
  wanted.model = options.model;
  if (options.model.empty()) wanted.tokenizer = default_tokenizer;
  const auto chosen = choose_tokenizer(library, settings, wanted);
  if (!chosen) found.not_counted = chosen.error().what;

  for (const std::string& path : options.files) {
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
      found.skipped.push_back(
          {path, fmt::format("'{}' is a {}", path,
                             std::filesystem::is_directory(path, unknown) ? "folder" : "pipe or a device")});
      continue;
    }
    if (!chosen) {
      if (const auto file = estimated_file(path)) {
        ask.file_bytes.push_back(file->bytes);
        found.files.push_back(*file);
      } else {
        found.skipped.push_back({path, fmt::format("cannot find the size of {}", path)});
      }
      continue;
    }
    const auto input = count_input(path, chosen->tokenizer, chosen->specials, [](std::uint64_t) {});
    if (!input) {
      found.skipped.push_back({path, input.error().what});
      continue;
    }
    ask.counted = ask.counted.value_or(0) + input->tokens;
    found.files.push_back(
        {path, static_cast<std::int64_t>(input->bytes), input->tokens, true, input->document});
  }
  const bool size_known = ask.char_count || ask.content_size_hint;
  if (found.files.empty() && !size_known)
    return fail(Errc::not_found, "no file could be read: {}", found.skipped.front().why);
  if (chosen && ask.counted) {
    found.tokenizer = chosen->tokenizer.info().name;
    ask.counted_exactness = chosen->exactness;
  }
  return {};
}

Result<void> run(const Globals& globals, const StrategyOptions& options) {
  const std::string query = fmt::format("{}", fmt::join(options.words, " "));
  if (base::trim(query).empty())
    return fail(Errc::bad_input,
                "the query is empty; describe the task: plimsoll strategy \"Summarize this\"");
  TRY(const config::Settings settings, load_settings(globals));
  StrategyFindings found;
  StrategyAsk ask;
  ask.query = query;
  ask.used_tokens = options.used;
  ask.available_tools = options.tools;
  if (options.chars > 0) ask.char_count = options.chars;
  if (!options.hint.empty()) {
    ask.content_size_hint = content_size_named(options.hint);
    if (!ask.content_size_hint)
      return fail(Errc::bad_input, "unknown size '{}'; use one of {}", options.hint,
                  fmt::join(content_sizes(), ", "));
  }
  TRY_VOID(find_window(settings, options, found, ask));
  TRY_VOID(weigh_files(settings, options, found, ask));
  found.decision = context_strategy(ask);
  const Tokens threshold = ask.model_context_length / 100 * settings.memory_compression_threshold_pct +
                           ask.model_context_length % 100 * settings.memory_compression_threshold_pct / 100;
  found.pressure = {ask.model_context_length, ask.used_tokens, threshold, true};
  found.base_min_trust = settings.base_min_trust;
  found.prefetch_wanted = should_prefetch(found.pressure, query);
  return print_out(options.json ? strategy_json(found) : strategy_report(found, terminal_of_stdout()));
}

}  // namespace

void add_strategy_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<StrategyOptions>();
  CLI::App* command =
      app.add_subcommand("strategy", "Advise whether to paste content, retrieve from it, or do both");
  command->footer(strategy_examples);
  command->add_option("QUERY", options->words, "The task in words; give it before --files")->required();
  command->add_option("--files", options->files, "Files with the content; missing files are skipped")
      ->type_name("FILE");
  command
      ->add_option("--hint", options->hint,
                   "Size of the content if there are no files: tiny (2,000 tokens), small (8,000), "
                   "medium (32,000), large (100,000), huge (500,000), massive (2,000,000)")
      ->type_name("SIZE");
  command->add_option("--chars", options->chars, "Size of the content in characters")
      ->type_name("N")
      ->check(at_least(1));
  command->add_option("--window", options->window, "Window in tokens (default: the model's, else 128,000)")
      ->type_name("TOKENS")
      ->check(at_least(1));
  command->add_option("--used", options->used, "Tokens already in the window")
      ->type_name("TOKENS")
      ->check(at_least(0));
  command
      ->add_option("--tools", options->tools,
                   "Available tools: read_file, web_extract, web_search, session_search, memory")
      ->type_name("A,B")
      ->delimiter(',');
  command->add_option("--model", options->model, "Model, for its window and its tokenizer")
      ->type_name("NAME");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
