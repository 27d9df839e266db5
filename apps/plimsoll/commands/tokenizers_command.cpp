#include "commands/tokenizers_command.hpp"

#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct TokenizersOptions {
  bool compile = false;
  bool json = false;
};

// Reports progress on stderr; on a terminal, one line that changes.
void report(bool interactive, std::size_t done, std::size_t all, std::string_view what) {
  if (interactive)
    fmt::print(stderr, "\r\033[K[{}/{}] {}", done, all, what);
  else
    fmt::print(stderr, "[{}/{}] {}\n", done, all, what);
}

Result<void> compile_all(const TokenizerLibrary& library) {
  const auto& sources = library.sources();
  const bool interactive = ::isatty(STDERR_FILENO) != 0;
  std::size_t made = 0;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!std::filesystem::exists(sources[i].definition)) {
      ++missing;
      report(false, i + 1, sources.size(),
             fmt::format("{}: not downloaded; run `tools/setup assets`", sources[i].name));
      continue;
    }
    if (interactive) report(true, i + 1, sources.size(), sources[i].name);
    const auto start = std::chrono::steady_clock::now();
    TRY(const bool compiled, library.compile(sources[i].name));
    if (!compiled) continue;
    ++made;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!interactive)
      report(false, i + 1, sources.size(),
             fmt::format("{} compiled in {:.1f} s", sources[i].name, took.count()));
  }
  if (interactive) fmt::print(stderr, "\r\033[K");
  fmt::print(stderr, "tokenizers: {} compiled, {} already compiled, {} not downloaded\n", made,
             sources.size() - made - missing, missing);
  return {};
}

std::string_view state_of(const TokenizerLibrary& library, const TokenizerSource& source,
                          std::size_t& vocabulary, std::string& kind) {
  if (!std::filesystem::exists(source.compiled))
    return std::filesystem::exists(source.definition) ? "fetched" : "absent";
  const auto tokenizer = library.open(source.name);
  if (!tokenizer) return "damaged";
  vocabulary = tokenizer->info().vocabulary;
  kind = tokenizer->info().kind;
  return "ready";
}

Result<void> list(const TokenizerLibrary& library, bool json) {
  Table table{{"NAME", "TOKENS", "KIND", "STATE", "SOURCE", "LICENCE", "UPSTREAM TERMS"},
              {false, true, false, false, false, false, false},
              {},
              false};
  Json all = Json::array();
  for (const TokenizerSource& source : library.sources()) {
    std::size_t vocabulary = 0;
    std::string kind = "-";
    const std::string_view state = state_of(library, source, vocabulary, kind);
    table.rows.push_back({source.name,
                          vocabulary == 0 ? "-" : base::with_thousands(static_cast<std::int64_t>(vocabulary)),
                          kind, std::string(state), source.package, source.licence, source.upstream});
    all.push_back({{"name", source.name},
                   {"vocabulary", vocabulary},
                   {"kind", kind},
                   {"state", state},
                   {"source", source.package},
                   {"file", source.definition.filename().string()},
                   {"licence", source.licence},
                   {"upstream", source.upstream},
                   {"purpose", source.purpose}});
  }
  if (json) return print_out(all.dump(2) + "\n");
  return print_out(draw(table, terminal_of_stdout()) +
                   "\nOther tokenizers work too: use --tokenizer-file with a tokenizer.json, .tiktoken, "
                   "SentencePiece .model, tekken.json or .gguf.\n");
}

Result<void> run(const Globals& globals, const TokenizersOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  const TokenizerLibrary library = library_of(settings);
  return options.compile ? compile_all(library) : list(library, options.json);
}

}  // namespace

TokenizerLibrary library_of(const config::Settings& settings) {
  return {settings.assets_dir, settings.tokenizer_dir};
}

void add_tokenizers_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<TokenizersOptions>();
  CLI::App* command = app.add_subcommand("tokenizers", "List the tokenizers with their sources and licences");
  command->footer(
      "Examples:\n"
      "  plimsoll tokenizers                           names, sources, licences\n"
      "  plimsoll count README.md --tokenizer qwen3    count with one of them\n");
  command->add_flag("--compile", options->compile,
                    "Compile all downloaded definitions that are not compiled yet");
  command->add_flag("--json", options->json, "Print a JSON list");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
