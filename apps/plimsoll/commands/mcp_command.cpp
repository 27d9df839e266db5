#include "commands/mcp_command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include <unistd.h>

#include "base/log.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "gateway/mcp/mcp_lines.hpp"
#include "gateway/mcp/mcp_tools.hpp"
#include "index/stores.hpp"
#include "serve/configured_servers.hpp"
#include "serve/known_models.hpp"
#include "serve/loaded_index.hpp"
#include "serve/plan_options.hpp"
#include "serve/serve_memory.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr const char* mcp_examples =
    "Serves the Model Context Protocol, one JSON-RPC message per line, until standard input ends. In an "
    "agent's\n"
    "settings:\n"
    "  {\"mcpServers\": {\"plimsoll\": {\"command\": \"plimsoll\", \"args\": [\"mcp\", \"--root\", "
    "\"/path/to/project\"]}}}\n"
    "\n"
    "Tools: context_strategy, count_tokens, model_window, plan_context, list_indexes, search_documents,\n"
    "add_memory, search_memories, memory_feedback, forget_memory. By hand:\n"
    "  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | plimsoll mcp\n";

constexpr std::size_t line_limit_bytes = std::size_t{64} << 20;

struct McpOptions {
  std::string root = ".";
};

// Answers messages until standard input ends or standard output is closed.
Result<void> serve(const gateway::McpServer& server) {
  gateway::McpSession session;
  std::optional<Error> unheard;
  const auto say = [&](const std::string& line) {
    if (const auto said = print_out(line + "\n"); !said) unheard = said.error();
  };
  gateway::McpLines lines(
      line_limit_bytes,
      [&](std::string_view line) {
        if (unheard) return;
        if (const auto answer = gateway::answer_mcp(server, session, line)) say(answer->text);
      },
      [&] { say(gateway::answer_mcp_too_long(line_limit_bytes)); });
  std::array<char, std::size_t{1} << 16> buffer;
  while (!unheard) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Errc::io_failed, "cannot read standard input: {}", std::strerror(errno));
    if (got == 0) break;
    lines.feed({buffer.data(), static_cast<std::size_t>(got)});
  }
  lines.finish();
  if (unheard) return tl::unexpected(*unheard);
  return {};
}

// Opens the indexes at the first search, so a store created later is found.
class LateIndexes {
 public:
  explicit LateIndexes(const config::Settings& settings) : settings_(settings) {}

  Result<library::OpenIndexes*> open() {
    if (open_indexes_) return open_indexes_.get();
    auto documents = Documents::open(settings_, /*create=*/false);
    if (!documents) return tl::unexpected(std::move(documents).error());
    documents_ = *std::move(documents);
    open_indexes_ = std::make_unique<library::OpenIndexes>(
        documents_->store(), [this](const IndexInfo& info) { return load_index(*documents_, info); });
    return open_indexes_.get();
  }

 private:
  const config::Settings& settings_;
  std::unique_ptr<Documents> documents_;
  std::unique_ptr<library::OpenIndexes> open_indexes_;
};

// Opens memories on first use. The store is created with the first memory.
class LateMemories {
 public:
  explicit LateMemories(const config::Settings& settings) : settings_(settings) {}

  Result<engine::Memories*> open() {
    if (memories_) return memories_.get();
    TRY(store_, open_facts(settings_, /*create=*/true));
    TRY(documents_, Documents::open(settings_, /*create=*/true));
    memories_ = std::make_unique<engine::Memories>(*store_, memory_embedder(settings_, *documents_),
                                                   settings_.max_memories);
    return memories_.get();
  }

 private:
  const config::Settings& settings_;
  std::unique_ptr<FactStore> store_;
  std::unique_ptr<Documents> documents_;
  std::unique_ptr<engine::Memories> memories_;
};

// Asks the model servers when a model is named.
class LateServers {
 public:
  LateServers(const config::Settings& settings, const ModelCatalogue& catalogue,
              const TokenizerLibrary& tokenizers)
      : settings_(settings), catalogue_(catalogue), tokenizers_(tokenizers) {}

  std::optional<PlanModel> model(std::string_view name) {
    if (!servers_) {
      auto opened = ConfiguredServers::open(settings_, catalogue_, tokenizers_);
      if (!opened) {
        log::warning("model servers not asked", {{"why", opened.error().what}});
        return std::nullopt;
      }
      servers_ = *std::move(opened);
    }
    return servers_->model(name);
  }

 private:
  const config::Settings& settings_;
  const ModelCatalogue& catalogue_;
  const TokenizerLibrary& tokenizers_;
  std::unique_ptr<ConfiguredServers> servers_;
};

Result<void> run(const Globals& globals, const McpOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const ModelCatalogue catalogue, known_models(settings));
  const TokenizerLibrary tokenizers = library_of(settings);
  TRY(auto files, gateway::RootedFiles::below(options.root));
  log::debug("mcp server started", {{"root", files.root().string()}});
  LateIndexes open_indexes(settings);
  LateMemories memories(settings);
  LateServers servers(settings, catalogue, tokenizers);
  const gateway::McpServer server = gateway::make_mcp_server(
      {&catalogue, &tokenizers, std::move(files), settings.llm_context_window,
       settings.default_context_window, plan_options(settings),
       [&open_indexes] { return open_indexes.open(); }, [&memories] { return memories.open(); },
       [&servers](std::string_view model) { return servers.model(model); }, settings.base_min_trust},
      PLIMSOLL_VERSION);
  (void)std::signal(SIGPIPE, SIG_IGN);  // a closed client is an error, not a reason to die
  return serve(server);
}

}  // namespace

void add_mcp_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<McpOptions>();
  CLI::App* command =
      app.add_subcommand("mcp", "Serve tools to agents over MCP on standard input and output");
  command->footer(mcp_examples);
  command
      ->add_option("--root", options->root,
                   "Folder whose files agents may read (default: the current folder)")
      ->type_name("DIR");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
