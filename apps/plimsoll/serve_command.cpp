#include "serve_command.hpp"

#include <malloc.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "adapters/http/streams.hpp"
#include "adapters/ollama/link.hpp"
#include "adapters/openai/upstream.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "documents.hpp"
#include "engine/plan_options.hpp"
#include "find_window.hpp"
#include "gateway/api.hpp"
#include "gateway/cors.hpp"
#include "gateway/mcp_tools.hpp"
#include "index_snapshot.hpp"
#include "known_models.hpp"
#include "serve_chat.hpp"
#include "serve_collections.hpp"
#include "serve_keys.hpp"
#include "serve_upstreams.hpp"
#include "shelved.hpp"
#include "terminal.hpp"
#include "tokenizers_command.hpp"

namespace plimsoll {
namespace {

constexpr const char* examples =
    "Any client of OpenAI's API works by changing its base URL to http://127.0.0.1:8000/v1. Each request is\n"
    "counted and planned before it goes to its model; nothing is cut without a word.\n"
    "\n"
    "Examples:\n"
    "  plimsoll serve                                  an Ollama on this machine, if there is one\n"
    "  plimsoll serve --upstream http://gpu:8000/v1    a vLLM, llama.cpp or any OpenAI-style server\n"
    "  plimsoll serve --upstream local=http://localhost:11434 --upstream openai=https://api.openai.com/v1\n"
    "                                                  several; the second one's key is OPENAI_API_KEY\n"
    "  plimsoll keys add ann                           from then on requests need a key; then --listen may "
    "be\n"
    "                                                  an address that others reach\n"
    "  curl http://127.0.0.1:8000/v1/models            what they serve, with real windows\n"
    "  plimsoll inspect --last                         what became of the last request\n";

struct Options {
  std::string listen;
  std::vector<std::string> upstreams;
  std::string store;
  std::string config;
  bool open = false;
};

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

std::size_t threads_of(std::int64_t wanted, std::size_t most) {
  if (wanted > 0) return static_cast<std::size_t>(wanted);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most);
}

engine::EngineRules rules_of(const base::Settings& settings) {
  engine::EngineRules rules;
  rules.plan = engine::plan_options(settings);
  rules.consult.similarity_threshold = settings.rag_similarity_threshold;
  rules.consult.node_approximation = settings.rag_document_node_token_approximation;
  rules.best_last_for_ollama = settings.reverse_context_for_ollama;
  rules.keep_prompts = settings.keep_prompts;
  rules.ask_for_usage = settings.ask_for_usage;
  rules.kaito_compat = settings.kaito_compat;
  rules.refuse_inexpressible = settings.refuse_inexpressible;
  rules.max_answer_bytes = static_cast<std::size_t>(settings.max_answer_bytes);
  rules.first_byte = milliseconds_of(settings.first_byte_timeout_seconds);
  rules.idle = milliseconds_of(settings.idle_timeout_seconds);
  return rules;
}

gateway::ServerOptions server_options(const base::Settings& settings, const ListenAddress& listen) {
  gateway::ServerOptions options;
  options.address = listen.host;
  options.port = listen.port;
  options.tls_certificate = settings.tls_certificate_file.string();
  options.tls_key = settings.tls_key_file.string();
  options.io_threads = threads_of(settings.io_threads, 4);
  options.worker_threads = threads_of(settings.worker_threads, 64);
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  options.max_request_bytes = static_cast<std::size_t>(settings.max_request_bytes);
  options.idle = milliseconds_of(settings.idle_timeout_seconds);
  return options;
}

TraceLimits limits_of(const base::Settings& settings) {
  return {settings.trace_count, settings.trace_days * 24 * 3600 * 1000, settings.trace_bytes};
}

// What a server speaks is asked for each time: one that was silent when we started may turn out to be an
// Ollama.
class MemberLink final : public UpstreamLink {
 public:
  MemberLink(HttpStreams& streams, const engine::Fleet& fleet, std::size_t member)
      : streams_(streams), fleet_(fleet), member_(member) {}

  Awaitable<Result<std::unique_ptr<HttpStream>>> send(UpstreamRequest request, Deadline deadline) override {
    return link().send(std::move(request), deadline);
  }
  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) override {
    return link().rendered(std::move(request), deadline);
  }

 private:
  UpstreamLink& link() {
    const engine::Upstream& server = fleet_.members()[member_].server;
    const bool ollama = fleet_.kind_of(member_) == ServerKind::ollama;
    std::unique_ptr<UpstreamLink>& link = ollama ? ollama_ : openai_;  // requests may still use the other
    if (!link && ollama) link = ollama::make_ollama(streams_, {.root = server.root, .key = server.key});
    if (!link) link = openai::make_upstream(streams_, {.root = server.root, .key = server.key});
    return *link;
  }

  HttpStreams& streams_;
  const engine::Fleet& fleet_;
  std::size_t member_;
  std::unique_ptr<UpstreamLink> ollama_, openai_;
};

// Everything that answers requests, in the order in which it stands on each other.
class Gateway {
 public:
  static Result<std::unique_ptr<Gateway>> open(const base::Settings& settings,
                                               std::vector<engine::FleetMember> members) {
    TRY(ModelCatalogue catalogue, known_models(settings));
    TRY(auto origins, gateway::read_origins(settings.cors_origins));
    TRY(auto documents, Documents::open(settings, /*create=*/true));
    TRY(auto traces, sqlite::open_traces(settings.store_file));
    TRY(auto drift, traces->drift());
    TRY(auto doorkeeper, Doorkeeper::open(settings));
    TRY(auto sessions, open_chat_store(settings));
    auto gateway = std::unique_ptr<Gateway>(
        new Gateway(settings, std::move(catalogue), std::move(documents), std::move(traces),
                    std::move(doorkeeper), std::move(sessions), std::move(origins), std::move(members)));
    gateway->drift_.load(std::move(drift));
    gateway->documents_->watch_embeddings(
        [&metrics = gateway->api_.rag_metrics()](bool remote, bool success, auto took) {
          metrics.add_embedding(remote, success, took);
        });
    remove_half_loaded(gateway->documents_->store());
    return gateway;
  }

  // `listening`: a socket of the one before it, or -1.
  Result<void> listen(const ListenAddress& address, int listening) {
    gateway::ServerOptions options = server_options(settings_, address);
    options.listening = listening;
    TRY(server_, gateway::HttpServer::start(
                     options, crew_maker(),
                     [this](engine::Crew& crew, gateway::ClientRequest& request,
                            gateway::ClientReply& reply) { return api_.handle(crew, request, reply); }));
    return {};
  }

  engine::Fleet& fleet() { return fleet_; }
  gateway::HttpServer& server() { return *server_; }
  Documents& documents() { return *documents_; }
  bool has_keys() const { return doorkeeper_->gate().needs_keys(); }
  Deadline for_a_list() const { return windows_.for_a_list(); }

 private:
  Gateway(const base::Settings& settings, ModelCatalogue catalogue, std::unique_ptr<Documents> documents,
          std::unique_ptr<TraceStore> traces, std::unique_ptr<Doorkeeper> doorkeeper,
          std::unique_ptr<SessionStore> sessions, std::vector<std::string> origins,
          std::vector<engine::FleetMember> members)
      : settings_(settings),
        catalogue_(std::move(catalogue)),
        documents_(std::move(documents)),
        traces_(std::move(traces)),
        doorkeeper_(std::move(doorkeeper)),
        origins_(std::move(origins)),
        windows_(settings, catalogue_, /*refresh=*/false),
        fleet_(std::move(members), windows_.finder()),
        models_(fleet_, windows_.finder(), catalogue_, documents_->tokenizers(), drift_,
                {settings.ollama_num_ctx_max, settings.default_context_window}),
        shelf_(documents_->store(), [this](const IndexInfo& info) { return shelve(*documents_, info); }),
        collections_(collection_tools(settings, *documents_, shelf_)),
        writer_(*traces_, drift_, {.limits = limits_of(settings)}),
        breakers_(fleet_.members().size()),
        engine_{models_, &shelf_, drift_, &writer_, breakers_, rules_of(settings)},
        chat_(settings, engine_, collections_, std::move(sessions), crew_maker()),
        api_(context()) {
    engine_.charge = [this](const std::string& owner, Tokens tokens) {
      doorkeeper_->gate().charge(owner, tokens);
    };
  }

  gateway::CrewMaker crew_maker() {
    return {[](const boost::asio::any_io_executor& executor) {
              return adapters::make_streams(
                  executor, {.agent = "plimsoll/" PLIMSOLL_VERSION, .certificates = trusted_certificates()});
            },
            [this](HttpStreams& streams, std::size_t member) {
              return std::make_unique<MemberLink>(streams, fleet_, member);
            },
            fleet_.members().size()};
  }

  gateway::ApiContext context() {
    gateway::ToolContext tools{&catalogue_,
                               &documents_->tokenizers(),
                               std::nullopt,  // who asks over HTTP names no files
                               settings_.llm_context_window,
                               settings_.default_context_window,
                               engine::plan_options(settings_),
                               [this] { return Result<engine::Shelf*>(&shelf_); }};
    gateway::ApiContext context{
        engine_, fleet_, windows_.finder(), gateway::make_mcp_server(std::move(tools), PLIMSOLL_VERSION),
        {},      {}};
    context.embedder = [this](const std::string& name) {
      return documents_->embedder(name.empty() ? std::string(builtin_embedder) : name);
    };
    context.kaito = kaito_context(settings_, *documents_, collections_);
    context.chat = chat_.context();
    context.version = PLIMSOLL_VERSION;
    context.gate = &doorkeeper_->gate();
    context.cors_origins = origins_;
    context.request_timeout = milliseconds_of(settings_.request_timeout_seconds);
    return context;
  }

  const base::Settings& settings_;
  ModelCatalogue catalogue_;
  std::unique_ptr<Documents> documents_;
  std::unique_ptr<TraceStore> traces_;
  std::unique_ptr<Doorkeeper> doorkeeper_;
  std::vector<std::string> origins_;
  ledger::DriftBook drift_;
  FoundWindows windows_;
  engine::Fleet fleet_;
  engine::FleetModels models_;
  engine::Shelf shelf_;
  engine::Collections collections_;
  engine::TraceWriter writer_;
  engine::Breakers breakers_;
  engine::Engine engine_;
  ServedChat chat_;
  gateway::Api api_;
  std::unique_ptr<gateway::HttpServer> server_;  // last: its threads use all of the above
};

std::string greeting(Gateway& gateway, const base::Settings& settings, const std::string& address) {
  std::string text;
  const auto models = gateway.fleet().models();
  const std::string key = gateway.has_keys() ? " -H 'Authorization: Bearer KEY'" : "";
  for (std::size_t i = 0; i < models->size(); ++i) {
    const engine::FleetMember& member = gateway.fleet().members()[i];
    const engine::MemberModels& found = (*models)[i];
    text += fmt::format(
        "  upstream  {}  {}  {}\n", member.name, member.server.shown,
        found.problem.empty() ? several(found.models.size(), "model") : "no answer: " + found.problem);
  }
  if (models->empty())
    text += "  upstream  none: no Ollama answers here; name a server with --upstream URL\n";
  text += fmt::format("  store     {}\n\n", settings.store_file.string());
  std::string model = "MODEL";
  for (const engine::MemberModels& member : *models)
    if (!member.models.empty() && model == "MODEL") model = member.models.front().name;
  text += fmt::format(
      "Try, from another terminal:\n"
      "  curl {0}/v1/chat/completions -H 'Content-Type: application/json'{2} \\\n"
      "    -d '{{\"model\": \"{1}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Ahoy!\"}}]}}'\n"
      "  plimsoll inspect --last\n",
      address, printable(model), key);
  return text;
}

// A gateway with the settings it was made by.
struct Watch {
  std::unique_ptr<const base::Settings> settings;
  std::unique_ptr<Gateway> gateway;
};

// By the settings as they are now. `listening`: the socket of the gateway before it, or -1; who follows one
// knows all models before it is asked for any.
Result<Watch> begin(const Globals& globals, const Options& options, const ListenAddress& listen,
                    int listening) {
  Watch watch;
  TRY(base::Settings settings, load_settings(globals));
  watch.settings = std::make_unique<const base::Settings>(std::move(settings));
  TRY(auto members, gateway_upstreams(*watch.settings, options.upstreams));
  TRY(watch.gateway, Gateway::open(*watch.settings, std::move(members)));
  if (listening >= 0) watch.gateway->fleet().refresh(watch.gateway->for_a_list());
  TRY_VOID(check_listening(listen, watch.gateway->has_keys(), options.open || watch.settings->open_to_all));
  TRY_VOID(watch.gateway->listen(listen, listening));
  return watch;
}

// Until somebody wants an end, or other settings: the signal that said so. Servers that did not answer are
// asked again meanwhile, and memory that a crowd of requests has left is given back: the allocator by itself
// keeps it.
int wait_for_a_signal(Gateway& gateway, const sigset_t& signals) {
  constexpr std::chrono::seconds for_the_silent{15}, for_all{300}, for_memory{5};
  auto asked = std::chrono::steady_clock::now();
  auto trimmed = asked;
  while (true) {
    const timespec second{1, 0};
    if (const int signal = sigtimedwait(&signals, nullptr, &second); signal > 0) return signal;
    if (std::chrono::steady_clock::now() - trimmed > for_memory) {
      malloc_trim(0);
      trimmed = std::chrono::steady_clock::now();
    }
    const auto models = gateway.fleet().models();
    const bool silent =
        std::ranges::any_of(*models, [](const auto& member) { return !member.problem.empty(); });
    if (std::chrono::steady_clock::now() - asked < (silent ? for_the_silent : for_all)) continue;
    gateway.fleet().refresh(gateway.for_a_list());
    asked = std::chrono::steady_clock::now();
  }
}

// A second gateway on the same port, made by the settings as they are now; the first answers what it has
// begun and ends. Where the new settings will not do, the first stays as it is.
void take_over(Watch& watch, const Globals& globals, const Options& options, const ListenAddress& listen) {
  auto next = begin(globals, options, listen, watch.gateway->server().listening());
  if (!next) {
    log::error("settings were not read again: all stays as it was", {{"why", next.error().what}});
    return;
  }
  std::swap(watch, *next);
  log::info("settings read again", {{"upstreams", watch.gateway->fleet().members().size()}});
  next->gateway->server().drain();
}

Result<void> run(const Globals& globals, const Options& options) {
  Globals with_store = globals;
  if (!options.config.empty()) with_store.config_file = options.config;
  if (!options.store.empty()) with_store.set.push_back("store_file=" + options.store);
  TRY(const base::Settings settings, load_settings(with_store));
  TRY(const ListenAddress listen, listen_address(options.listen.empty() ? settings.listen : options.listen));

  // One arena a thread keeps several megabytes for itself each; two are enough for the few threads there are.
  (void)mallopt(M_ARENA_MAX, 2);
  (void)std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread starts: they inherit it

  TRY(Watch watch, begin(with_store, options, listen, -1));
  const bool six = listen.host.find(':') != std::string::npos;
  const std::string address =
      fmt::format("{}://{}{}{}:{}", settings.tls_certificate_file.empty() ? "http" : "https", six ? "[" : "",
                  listen.host, six ? "]" : "", watch.gateway->server().port());
  TRY_VOID(print_out(fmt::format("plimsoll {} listens on {}\n", PLIMSOLL_VERSION, address)));
  watch.gateway->fleet().refresh(watch.gateway->for_a_list());
  TRY_VOID(print_out(greeting(*watch.gateway, settings, address)));
  while (wait_for_a_signal(*watch.gateway, signals) == SIGHUP) take_over(watch, with_store, options, listen);
  log::info("ending", {{"connections", watch.gateway->server().connections()}});
  watch.gateway->server().drain();
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "Run the gateway between any OpenAI client and its models");
  command->footer(examples);
  command->add_option("--listen", options->listen, "Where to listen (default: 127.0.0.1:8000)")
      ->type_name("HOST:PORT");
  command->add_option("--upstream", options->upstreams, "A server of models, as often as there are such")
      ->type_name("[NAME=]URL")
      ->allow_extra_args(false);
  command->add_flag("--open", options->open, "Listen beyond this machine also where there are no keys");
  command->add_option("--config", options->config, "Settings file, as before the command")->type_name("FILE");
  command->add_option("--store", options->store, "File that holds documents and traces")->type_name("PATH");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
