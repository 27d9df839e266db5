#include "serve/served_gateway.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "adapters/anthropic/chat_fields.hpp"
#include "adapters/anthropic/link.hpp"
#include "adapters/http/streams.hpp"
#include "adapters/ollama/link.hpp"
#include "adapters/openai/upstream.hpp"
#include "adapters/weaviate/address.hpp"
#include "base/clock.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/log.hpp"
#include "base/private_words.hpp"
#include "base/try.hpp"
#include "gateway/http/cors.hpp"
#include "gateway/mcp/mcp_tools.hpp"
#include "index/index_snapshot.hpp"
#include "index/stores.hpp"
#include "serve/configured_servers.hpp"
#include "serve/known_models.hpp"
#include "serve/loaded_index.hpp"
#include "serve/plan_options.hpp"
#include "serve/serve_collections.hpp"

namespace plimsoll {
namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

std::size_t threads_of(std::int64_t wanted, std::size_t most) {
  if (wanted > 0) return static_cast<std::size_t>(wanted);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most);
}

engine::EngineRules rules_of(const config::Settings& settings) {
  engine::EngineRules rules;
  rules.plan = plan_options(settings);
  // The default is RAGEngine's. If it is not set explicitly, relevance decides instead.
  if (settings.kaito_compat || settings.origin_of("rag_similarity_threshold") != "default")
    rules.consult.similarity_threshold = settings.rag_similarity_threshold;
  rules.consult.passages = settings.passage_tokens;
  rules.consult.embedded_passages = settings.embedded_passage_tokens;
  if (settings.passage_instruction != "auto") rules.instruction = settings.passage_instruction;
  rules.consult.node_approximation = settings.rag_document_node_token_approximation;
  if (settings.origin_of("rag_context_token_fill_ratio") != "default")
    rules.context_ratio = settings.rag_context_token_fill_ratio;
  rules.best_last_for_ollama = settings.reverse_context_for_ollama;
  rules.keep_prompts = settings.keep_prompts;
  rules.ask_for_usage = settings.ask_for_usage;
  if (settings.kaito_compat) rules.document_chat_failure = gateway::ragengine_failure;
  rules.compress_history = settings.compress_history;
  rules.recall_turns = settings.recall_turns;
  rules.recalled_tokens = settings.recalled_tokens;
  rules.rewrite_follow_ups = settings.rewrite_follow_ups;
  rules.summary_model = settings.summary_model;
  rules.summary_timeout = milliseconds_of(settings.summary_timeout_seconds);
  rules.refuse_inexpressible = settings.refuse_inexpressible;
  rules.max_answer_bytes = static_cast<std::size_t>(settings.max_answer_bytes);
  rules.first_byte = milliseconds_of(settings.first_byte_timeout_seconds);
  rules.idle = milliseconds_of(settings.idle_timeout_seconds);
  return rules;
}

gateway::ServerOptions server_options(const config::Settings& settings, const ListenAddress& listen) {
  gateway::ServerOptions options;
  options.address = listen.host;
  options.port = listen.port;
  options.tls_certificate = settings.tls_certificate_file.string();
  options.tls_key = settings.tls_key_file.string();
  options.io_threads = threads_of(settings.io_threads, 4);
  options.worker_threads = threads_of(settings.worker_threads, 64);
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  options.max_request_bytes = static_cast<std::size_t>(settings.max_request_bytes);
  options.max_memory = static_cast<std::size_t>(settings.max_memory);
  options.idle = milliseconds_of(settings.idle_timeout_seconds);
  return options;
}

TraceLimits limits_of(const config::Settings& settings) {
  return {settings.trace_count, settings.trace_days * 24 * 3600 * 1000, settings.trace_bytes};
}

// Determines the server's protocol for each request: a server that did not answer at start may be an
// Ollama.
class MemberLink final : public UpstreamLink {
 public:
  MemberLink(HttpStreams& streams, const models::Upstreams& upstreams, std::size_t member)
      : streams_(streams), upstreams_(upstreams), member_(member) {}

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    if (request.has_anthropic_fields && upstreams_.kind_of(member_) != ServerKind::anthropic) {
      const auto without = [&request] { return anthropic::without_chat_fields(request.body); };
      request.body = co_await base::off_thread_if_long(request.resources, request.body.size(), without);
    }
    co_return co_await link().send(std::move(request), deadline);
  }
  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) override {
    return link().rendered(std::move(request), deadline);
  }

 private:
  UpstreamLink& link() {
    const ServerKind kind = upstreams_.kind_of(member_);
    std::unique_ptr<UpstreamLink>& link = links_[kind];  // requests may still use one of another kind
    if (!link) link = make(kind);
    return *link;
  }

  std::unique_ptr<UpstreamLink> make(ServerKind kind) {
    const models::Upstream& server = upstreams_.members()[member_].server;
    if (kind == ServerKind::ollama)
      return ollama::make_ollama(streams_, {.root = server.root, .key = server.key});
    if (kind == ServerKind::anthropic)
      return anthropic::make_anthropic(streams_, {.root = server.root, .key = server.key});
    return openai::make_upstream(streams_, {.root = server.root, .key = server.key});
  }

  HttpStreams& streams_;
  const models::Upstreams& upstreams_;
  std::size_t member_;
  std::map<ServerKind, std::unique_ptr<UpstreamLink>> links_;
};

EmbeddedModels embedded_of(const config::Settings& settings, const models::Upstreams& upstreams) {
  for (std::size_t i = 0; i < upstreams.members().size(); ++i)
    if (upstreams.is_embedded(i)) return run_embedded(settings, upstreams.members()[i]);
  return {};
}

// "http://gpu:8000" of "http://user:password@gpu:8000/v1"
std::string origin_of(const std::string& root) {
  const std::size_t scheme = root.find("://");
  if (scheme == std::string::npos) return root;
  const std::size_t begin = scheme + 3, end = std::min(root.find('/', begin), root.size());
  const std::size_t at = root.substr(0, end).rfind('@');
  const std::size_t host = at == std::string::npos || at < begin ? begin : at + 1;
  return root.substr(0, begin) + root.substr(host, end - host);
}

// Hides URLs and paths in error messages from clients; the log still has them.
void keep_addresses_private(const config::Settings& settings,
                            const std::vector<models::ConfiguredUpstream>& members) {
  base::keep_private(std::filesystem::absolute(settings.store_file).string(), "the store");
  if (settings.store_file.has_parent_path()) base::keep_private(settings.store_file.string(), "the store");
  if (is_shared(settings)) base::keep_private(shown_store(settings), "the store");
  for (const auto& [folder, shown] : {std::pair(settings.assets_dir, "the folder of assets"),
                                      std::pair(settings.models_dir, "the folder of models")})
    if (folder.is_absolute() && folder.has_relative_path()) base::keep_private(folder.string(), shown);
  if (has_index_store(settings))
    if (const auto address = weaviate::read_address(settings.index_store))
      for (const std::string& node : address->nodes) base::keep_private(node, "the index store");
  for (const std::string& provider : settings.memory_providers) {
    const std::size_t equals = std::min(provider.find('='), provider.size());
    const std::string origin = origin_of(provider.substr(std::min(equals + 1, provider.size())));
    base::keep_private(origin, fmt::format("the memory provider '{}'", provider.substr(0, equals)));
  }
  // Embedders may be on these. An upstream at the same address is shown by its name instead.
  base::keep_private(origin_of(settings.llm_inference_url), "the server of llm_inference_url");
  base::keep_private(origin_of(settings.ollama_llm_base_url), "the server of ollama_llm_base_url");
  std::size_t number = 0;
  for (const models::ConfiguredUpstream& member : members) {
    // A server without a name is named after its address.
    ++number;
    if (!member.embedded.empty()) continue;  // it has no address
    const std::string origin = origin_of(member.server.root);
    const std::size_t host = origin.find("://");
    const bool is_address = host != std::string::npos && origin.substr(host + 3) == member.name &&
                            member.name.find_first_of(".:") != std::string::npos;
    const std::string name = is_address ? fmt::format("upstream-{}", number) : member.name;
    const std::string shown = fmt::format("the upstream '{}'", name);
    base::keep_private(member.server.root, shown);
    base::keep_private(origin, shown);
    for (const std::string_view usual : {":80", ":443"})  // error messages omit default ports
      if (origin.ends_with(usual)) base::keep_private(origin.substr(0, origin.size() - usual.size()), shown);
    if (is_address) base::keep_private(member.name, name);
  }
}

}  // namespace

Result<std::unique_ptr<ServedGateway>> ServedGateway::open(const config::Settings& settings,
                                                           std::vector<models::ConfiguredUpstream> members,
                                                           ServedGateway* before) {
  TRY(ModelCatalogue catalogue, known_models(settings));
  TRY(auto origins, gateway::read_origins(settings.cors_origins));
  TRY(auto for_collector, ledger::read_otlp_headers(settings.otlp_headers));
  TRY(auto documents, Documents::open(settings, /*create=*/true));
  TRY(auto memory, ServedMemory::open(settings, *documents));
  TRY(auto traces, open_traces(settings, /*create=*/true));
  TRY(const auto orders, traces->forget_orders(0));
  TRY(auto drift, traces->drift());
  const bool same_store = before != nullptr && is_same_store(before->settings_, settings);
  TRY(auto doorkeeper, Doorkeeper::open(settings, same_store ? &before->doorkeeper_->gate() : nullptr));
  TRY(auto sessions, open_sessions(settings, /*create=*/true));
  auto gateway = std::unique_ptr<ServedGateway>(
      new ServedGateway(settings, std::move(catalogue), std::move(documents), std::move(memory),
                        std::move(traces), std::move(doorkeeper), std::move(sessions), std::move(origins),
                        std::move(members), std::move(for_collector)));
  gateway->drift_.load(std::move(drift), base::utc_ms());
  if (!orders.empty()) gateway->obeyed_ = orders.back().number;
  gateway->documents_->watch_embeddings(
      [metrics = gateway->api_.rag_metrics()](bool remote, bool success, auto took) {
        metrics->add_embedding(remote, success, took);
      });
  remove_half_loaded(gateway->documents_->store());
  return gateway;
}

void ServedGateway::obey_forget_orders() {
  const auto orders = traces_->forget_orders(obeyed_);
  if (!orders || orders->empty()) return;
  obeyed_ = orders->back().number;
  for (const ForgetOrder& order : *orders) {
    if (const auto done = writer_.forget_drift(order.model); !done)
      log::warning("what was learned is still in the store", {{"why", done.error().what}});
    models_.window_signs().forget(order.model);
    models_.forget_formats(order.model);
    if (order.model.empty())
      windows_.finder().refresh();
    else
      windows_.finder().cache().forget(order.model);
    log::info("forgot what was learned", {{"model", order.model.empty() ? "all" : order.model}});
  }
}

bool ServedGateway::drain() {
  feed_.end();
  return server_->drain();
}

Result<void> ServedGateway::listen(const ListenAddress& address, const gateway::HttpServer* before) {
  keep_addresses_private(settings_, upstreams_.members());
  gateway::ServerOptions options = server_options(settings_, address);
  if (before != nullptr) {
    options.listening = before->listening();
    options.memory = before->memory();
  }
  options.wants_body = [this](const gateway::ClientRequest& head) { return api_.wants_body(head); };
  TRY(server_, gateway::HttpServer::start(
                   options, thread_maker(),
                   [this](gateway::ServerThread& thread, gateway::ClientRequest& request,
                          gateway::ClientReply& reply) { return api_.handle(thread, request, reply); }));
  // Only with a port: a command without one may run next to a gateway on the same store.
  doorkeeper_->watch();
  return {};
}

ServedGateway::ServedGateway(const config::Settings& settings, ModelCatalogue catalogue,
                             std::unique_ptr<Documents> documents, std::unique_ptr<ServedMemory> memory,
                             std::unique_ptr<TraceStore> traces, std::unique_ptr<Doorkeeper> doorkeeper,
                             std::unique_ptr<SessionStore> sessions, std::vector<std::string> origins,
                             std::vector<models::ConfiguredUpstream> members,
                             std::vector<HttpHeader> for_collector)
    : settings_(settings),
      catalogue_(std::move(catalogue)),
      documents_(std::move(documents)),
      memory_(std::move(memory)),
      traces_(std::move(traces)),
      doorkeeper_(std::move(doorkeeper)),
      origins_(std::move(origins)),
      windows_(settings, catalogue_, EarlierRuns::confirmed),
      upstreams_(std::move(members), windows_.finder()),
      embedded_(embedded_of(settings, upstreams_)),
      models_(upstreams_, windows_.finder(), catalogue_, documents_->tokenizers(), drift_,
              {settings.ollama_num_ctx_max, settings.default_context_window}),
      open_indexes_(documents_->store(),
                    [this](const IndexInfo& info) { return load_index(*documents_, info); }),
      collections_(collection_tools(settings, *documents_, open_indexes_)),
      writer_(*traces_, drift_, {.limits = limits_of(settings)}),
      spans_(settings, std::move(for_collector)),
      engine_{models_, &open_indexes_, drift_, &writer_, breakers_, rules_of(settings), &feed_},
      summaries_(*sessions, {settings.summary_count, settings.summary_days * 24 * 3600 * 1000}),
      turn_vectors_(*sessions, memory_embedder(settings, *documents_),
                    settings.summary_days * 24 * 3600 * 1000),
      chat_(settings, engine_, collections_, std::move(sessions), thread_maker(), doorkeeper_->gate()),
      extraction_(settings.extract_memories
                      ? std::make_unique<gateway::Extraction>(engine_, memory_->memories(),
                                                              *chat_.context().sessions, thread_maker())
                      : nullptr),
      api_(context()) {
  engine_.spans = spans_.sender();
  engine_.summaries = &summaries_;
  engine_.sessions = chat_.context().sessions;
  engine_.turn_vectors = &turn_vectors_;
  engine_.recall = &memory_->recall();
  memory_->memories().before_forgetting([this] { writer_.flush(); });
  engine_.charge = [this](const std::string& owner, Tokens tokens) {
    doorkeeper_->gate().charge(owner, tokens);
  };
  engine_.reserve = [this](const engine::Caller& caller, const engine::Need& need) {
    return doorkeeper_->gate().reserve(caller, need);
  };
  engine_.reserve_waits = is_shared(settings_);
}

gateway::ThreadMaker ServedGateway::thread_maker() {
  return {[](const boost::asio::any_io_executor& executor) {
            return adapters::make_streams(
                executor, {.agent = "plimsoll/" PLIMSOLL_VERSION, .certificates = trusted_certificates()});
          },
          [this](HttpStreams& streams, std::size_t member) -> std::unique_ptr<UpstreamLink> {
            if (upstreams_.is_embedded(member)) return make_embedded_link(embedded_);
            return std::make_unique<MemberLink>(streams, upstreams_, member);
          },
          upstreams_.members().size()};
}

gateway::ApiContext ServedGateway::context() {
  gateway::ToolContext tools{&catalogue_,
                             &documents_->tokenizers(),
                             std::nullopt,  // HTTP clients must not name files
                             settings_.llm_context_window,
                             settings_.default_context_window,
                             plan_options(settings_),
                             [this] { return Result<library::OpenIndexes*>(&open_indexes_); },
                             [this] { return Result<engine::Memories*>(&memory_->memories()); },
                             [this](std::string_view model) { return served_model(models_, model); },
                             settings_.base_min_trust};
  gateway::ApiContext context{
      engine_, upstreams_, windows_.finder(), gateway::make_mcp_server(std::move(tools), PLIMSOLL_VERSION),
      {},      {}};
  context.embedders.names = documents_->own_embedders();
  context.embedders.find = [this](const std::string& name) {
    return documents_->embedder(name.empty() ? std::string(builtin_embedder) : name);
  };
  context.kaito = kaito_context(settings_, *documents_, collections_);
  context.chat = chat_.context();
  context.chat.memories = &memory_->memories();
  context.chat.extraction = extraction_.get();
  context.memories = &memory_->memories();
  context.version = PLIMSOLL_VERSION;
  context.gate = &doorkeeper_->gate();
  context.cors_origins = origins_;
  context.console = settings_.console;
  context.traces = traces_.get();
  context.view = {&doorkeeper_->keys(), &open_indexes_, settings_.keep_prompts, PLIMSOLL_VERSION};
  context.request_timeout = milliseconds_of(settings_.request_timeout_seconds);
  return context;
}

}  // namespace plimsoll
