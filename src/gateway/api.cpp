#include "gateway/api.hpp"

#include <atomic>
#include <random>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_shape.hpp"
#include "base/json_text.hpp"
#include "base/private_words.hpp"
#include "engine/annotate.hpp"
#include "gateway/gate.hpp"
#include "gateway/kaito_read.hpp"
#include "gateway/mcp_schema.hpp"
#include "gateway/models_json.hpp"
#include "gateway/ollama_answer.hpp"

namespace plimsoll::gateway {
namespace {

constexpr auto replace = Json::error_handler_t::replace;

KaitoContext with_metrics(KaitoContext context, RagMetrics* metrics) {
  context.metrics = metrics;
  return context;
}

Result<Json> read_json(const std::string& body) {
  if (const auto shape = base::check_json_shape(body, "the request"); !shape)
    return tl::unexpected(shape.error());
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(Errc::bad_input, "the body of the request is not JSON");
  if (!json.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  return json;
}

}  // namespace

std::string new_trace_id() {
  static std::atomic<std::uint32_t> count = std::random_device{}();
  return fmt::format("{:011x}{:08x}", base::utc_ms(), count.fetch_add(1));
}

Awaitable<void> send_json(ClientReply& reply, int status, std::string body, std::vector<HttpHeader> headers) {
  if (status >= 400) body = base::for_clients(body);
  engine::AnswerHead head;
  head.status = status;
  head.headers = std::move(headers);
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

Awaitable<void> send_error(ClientReply& reply, const Error& error, std::vector<HttpHeader> headers) {
  if (error.code == Errc::unreachable) headers.push_back({"Retry-After", "2"});
  std::string body = engine::error_body(error);
  co_await send_json(reply, engine::status_of(error.code), std::move(body), std::move(headers));
}

Api::Api(ApiContext context)
    : context_(std::move(context)),
      watched_(std::make_shared<RagMetrics>()),
      kaito_(with_metrics(context_.kaito, watched_.get())),
      chat_(context_.engine, context_.chat),
      memory_(context_.memories),
      responses_(context_.engine, context_.chat.sessions) {}

const std::vector<Api::Route>& Api::routes() {
  static const std::vector<Route> all{
      {{"POST", "/v1/chat/completions", "openai", "A chat, planned for its window", "Chat", "Answer"},
       &Api::ask_model},
      {{"POST", "/v1/completions", "openai", "A text to go on with", "Completion", "Answer"},
       &Api::ask_model},
      {{"POST", "/v1/responses", "openai", "A response", "Responses", "Response"}, &Api::responses},
      {{"GET", "/v1/responses/{id...}", "openai", "A response that was kept; ID/input_items: what was asked",
        "", "Response"},
       &Api::kept_response},
      {{"DELETE", "/v1/responses/{id...}", "openai", "Forget a response"}, &Api::kept_response},
      {{"POST", "/v1/messages", "anthropic", "A message", "Messages", "MessageAnswer"}, &Api::messages},
      {{"POST", "/v1/messages/count_tokens", "anthropic", "The tokens of a message's request",
        "MessagesCount"},
       &Api::count_messages},
      {{"POST", "/v1/embeddings", "openai", "Vectors of texts", "Embedding"}, &Api::embeddings},
      {{"GET", "/v1/models", "openai", "The models with their served windows", "", "Models"}, &Api::models},
      {{"GET", "/v1/models/{model...}", "openai", "One of them"}, &Api::model},
      {{"POST", "/v1/plan", "planner", "What a chat would get of its window", "Chat", "Plan"}, &Api::plan},
      {{"POST", "/v1/count", "planner", "The tokens of a text or of messages", "Count", "Counted"},
       &Api::count},
      {{"POST", "/v1/strategy", "planner", "Whether to paste or to retrieve", "Strategy"}, &Api::strategy},
      {{"POST", "/api/chat", "ollama", "A chat", "OllamaChat", "OllamaAnswer"}, &Api::ollama_chat},
      {{"POST", "/api/generate", "ollama", "A text", "OllamaGenerate", "OllamaAnswer"},
       &Api::ollama_generate},
      {{"POST", "/api/embed", "ollama", "Vectors of texts", "OllamaEmbed"}, &Api::ollama_embed},
      {{"POST", "/api/embeddings", "ollama", "The vector of a text", "OllamaEmbed"}, &Api::ollama_embed},
      {{"GET", "/api/tags", "ollama", "The models"}, &Api::ollama_tags},
      {{"GET", "/api/ps", "ollama", "The models that were asked for"}, &Api::ollama_tags},
      {{"POST", "/api/show", "ollama", "What is known of a model", "OllamaModel"}, &Api::ollama_show},
      {{"GET", "/api/version", "ollama", "Which Ollama this is as good as"}, &Api::ollama_version},
      {{"POST", "/api/{other...}", "ollama", "What only an Ollama can do: refused", "OllamaModel"},
       &Api::ollama_other},
      {{"POST", "/mcp", "mcp", "A message of the Model Context Protocol", "Rpc", "RpcReply"}, &Api::mcp},
      {{"POST", "/admin/models/refresh", "operation", "Ask the upstreams for their models anew"},
       &Api::refresh_models},
      {{"GET", "/health", "operation", "Whether the process answers"}, &Api::health},
      {{"GET", "/ready", "operation", "Which upstreams answer"}, &Api::ready},
      {{"GET", "/metrics", "operation", "Counters, for Prometheus", "", "text"}, &Api::metrics},
      {{"GET", "/openapi.json", "operation", "This description"}, &Api::describe},
      {{"GET", "/", "operation", "The routes"}, &Api::root},
  };
  return all;
}

Awaitable<void> Api::find_route(Call call) const {
  std::string allowed;
  for (const Route& route : routes()) {
    const std::string& path = call.request.path;
    const std::string_view before = route.about.path.substr(0, route.about.path.find('{'));
    const bool named = before.size() < route.about.path.size();
    const bool fits = named ? path.starts_with(before) && path.size() > before.size() : path == before;
    if (!fits) continue;
    if (allowed.find(route.about.method) == std::string::npos)
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.about.method);
    if (call.request.method != route.about.method) continue;
    co_await (this->*route.handler)(call);
    co_return;
  }
  if (auto match = kaito_.match(call.request, allowed)) {
    co_await answer_kaito(call, *std::move(match));
    co_return;
  }
  if (auto match = chat_.match(call.request, allowed)) {
    const ChatRoutes::Call chat{call.crew, call.request, call.reply, call.deadline};
    co_await chat_.answer(*std::move(match), chat);
    co_return;
  }
  if (auto match = memory_.match(call.request, allowed)) {
    const MemoryRoutes::Call memory{call.crew, call.request, call.reply, call.deadline};
    co_await memory_.answer(*std::move(match), memory);
    co_return;
  }
  const bool found = !allowed.empty();
  const Error error{found ? Errc::bad_input : Errc::not_found, found ? "Method Not Allowed" : "Not Found"};
  // Where clients of OpenAI's API look, in their form too, and in Ollama's where its do.
  std::string body = call.request.path.starts_with("/v")      ? engine::error_body(error)
                     : call.request.path.starts_with("/api/") ? ollama_error(error.what)
                                                              : Json{{"detail", error.what}}.dump();
  std::vector<HttpHeader> headers;
  if (found) headers.push_back({"Allow", allowed});
  co_await send_json(call.reply, found ? 405 : 404, std::move(body), std::move(headers));
}

Awaitable<void> Api::answer_kaito(Call call, Kaito::Match match) const {
  const auto begun = RagMetrics::Clock::now();
  Kaito::Answer answer;
  std::string body;
  std::function<void()> work = [&] {
    answer = kaito_.answer(match, call.request, call.deadline);
    body = base::json_text(answer.body);
  };
  co_await call.crew.elsewhere(std::move(work));
  if (answer.status != 422)  // as RAGEngine has it: what is no request is not counted
    watched_->add(match.route, answer.status < 400, RagMetrics::Clock::now() - begun);
  co_await send_json(call.reply, answer.status, std::move(body));
}

Awaitable<void> Api::ask_model(Call call) const {
  if (context_.kaito.compat && call.request.path == "/v1/chat/completions") {
    Complaints complaints;
    (void)read_object(call.request.body, complaints);
    if (complaints.any()) {
      co_await send_json(call.reply, 422, base::json_text(complaints.body()));
      co_return;
    }
  }
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = call.request.path;
  ask.body = std::move(call.request.body);
  std::string trace = new_trace_id();
  const auto outcome =
      co_await engine::answer(context_.engine, call.crew, std::move(ask), call.reply, call.deadline, trace);
  if (outcome || call.reply.is_begun()) co_return;
  std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
  co_await send_error(call.reply, outcome.error(), std::move(headers));
}

Awaitable<void> Api::responses(Call call) const {
  const ResponsesRoutes::Call asked{call.crew, call.request, call.reply, call.deadline};
  co_await responses_.ask(asked);
}

Awaitable<void> Api::kept_response(Call call) const {
  const ResponsesRoutes::Call asked{call.crew, call.request, call.reply, call.deadline};
  if (call.request.method == "GET")
    co_await responses_.show(asked);
  else
    co_await responses_.forget(asked);
}

Awaitable<void> Api::plan(Call call) const {
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.body = std::move(call.request.body);
  ask.in_full = true;
  const auto plan = co_await engine::plan_only(context_.engine, call.crew, std::move(ask), call.deadline);
  if (plan)
    co_await send_json(call.reply, 200, plan_json(*plan));
  else
    co_await send_error(call.reply, plan.error());
}

// A tool's arguments as a body, its result as the reply.
Awaitable<void> Api::use_tool(Call call, std::string_view name,
                              const std::function<void(Json&)>& mend) const {
  Result<Json> result = fail(Errc::not_found, "no tool is called '{}'", name);
  std::function<void()> work = [&] {
    const auto arguments = read_json(call.request.body);
    if (!arguments) {
      result = tl::unexpected(arguments.error());
      return;
    }
    if (arguments->contains("file_paths")) {
      result = fail(Errc::bad_input,
                    "file_paths are for the command line and for MCP; send char_count, or the text");
      return;
    }
    const McpSession session{.indexes = call.request.caller.indexes, .owner = call.request.caller.owner};
    for (const McpTool& tool : context_.tools.tools) {
      if (tool.name != name) continue;
      const Json given = without_nulls(*arguments, tool.input_schema);
      const auto checked = check_schema(given, tool.input_schema);
      result = checked ? tool.call(given, session) : tl::unexpected(checked.error());
      if (result && mend) mend(*result);
    }
  };
  co_await call.crew.elsewhere(std::move(work));
  if (result)
    co_await send_json(call.reply, 200, base::json_text(*result));
  else
    co_await send_error(call.reply, result.error());
}

Awaitable<void> Api::count(Call call) const {
  // The window that is served stands above the catalogue's.
  const std::function<void(Json&)> served = [&](Json& result) {
    const std::string name = result.value("model", std::string());
    const auto berth =
        name.empty() || !context_.fleet.has(name) ? tl::unexpected(Error{}) : context_.fleet.find(name);
    const auto model = berth ? context_.engine.models.open(*berth, call.deadline) : tl::unexpected(Error{});
    if (!model) return;
    result["window"] = model->window.tokens;
    result["window_source"] = name_of(model->window.source);
  };
  co_await use_tool(call, "count_tokens", served);
}

Awaitable<void> Api::strategy(Call call) const {
  co_await use_tool(call, "context_strategy", {});
}

Awaitable<void> Api::models(Call call) const {
  std::string body;
  std::function<void()> work = [&] {
    auto all = models_json(context_.engine, context_.fleet, call.request.caller);
    if (context_.embedder) all["data"].push_back(embedder_json());
    body = base::json_text(call.request.anthropic_version.empty() ? all : anthropic_models_json(all));
  };
  co_await call.crew.elsewhere(std::move(work));
  co_await send_json(call.reply, 200, std::move(body));
}

Awaitable<void> Api::model(Call call) const {
  constexpr std::string_view prefix = "/v1/models/";
  const std::string name = call.request.path.substr(prefix.size());
  Json found;
  std::function<void()> work = [&] {
    const bool ours = context_.embedder && name == own_embedder;
    found = ours ? embedder_json() : model_json(context_.engine, context_.fleet, call.request.caller, name);
  };
  co_await call.crew.elsewhere(std::move(work));
  if (!found.is_null()) {
    co_await send_json(call.reply, 200, base::json_text(found));
    co_return;
  }
  const Error error{Errc::unknown_model,
                    fmt::format("no upstream has a model '{}'; GET /v1/models lists all", name)};
  co_await send_error(call.reply, error);
}

// With keys, whoever asks for it again within ten seconds gets the list as it is: upstreams are not one key's
// to keep busy.
Awaitable<void> Api::refresh_models(Call call) const {
  constexpr std::int64_t between_ms = 10'000;
  const std::int64_t now = base::utc_ms();
  std::int64_t last = refreshed_ms_;
  const bool is_soon = context_.gate != nullptr && context_.gate->needs_keys() && now - last < between_ms;
  if (is_soon || !refreshed_ms_.compare_exchange_strong(last, now)) {
    co_await models(call);
    co_return;
  }
  std::function<void()> work = [&] {
    context_.finder.refresh();
    context_.fleet.refresh(call.deadline);
    responses_.ask_all_again();
  };
  co_await call.crew.elsewhere(std::move(work));
  co_await models(call);
}

Awaitable<void> Api::health(Call call) const {
  co_await send_json(call.reply, 200, R"({"status":"Healthy","detail":null})");
}

Awaitable<void> Api::ready(Call call) const {
  const auto models = context_.fleet.models();
  Json upstreams = Json::array();
  for (std::size_t i = 0; i < models->size(); ++i) {
    const engine::MemberModels& member = (*models)[i];
    upstreams.push_back(
        {{"name", base::for_clients(context_.fleet.members()[i].name)},
         {"kind", name_of(member.kind)},
         {"models", member.models.size()},
         {"problem", member.problem.empty() ? Json() : Json(base::for_clients(member.problem))}});
  }
  const Json body{{"status", "ready"}, {"version", context_.version}, {"upstreams", std::move(upstreams)}};
  co_await send_json(call.reply, 200, base::json_text(body));
}

std::vector<RouteAbout> Api::all_routes() {
  std::vector<RouteAbout> all;
  for (const Route& route : routes()) all.push_back(route.about);
  for (const RouteAbout& route : Kaito::about()) all.push_back(route);
  for (const RouteAbout& route : ChatRoutes::about()) all.push_back(route);
  for (const RouteAbout& route : MemoryRoutes::about()) all.push_back(route);
  return all;
}

Awaitable<void> Api::describe(Call call) const {
  static const std::string body = openapi(all_routes(), context_.version).dump();
  co_await send_json(call.reply, 200, body);
}

Awaitable<void> Api::root(Call call) const {
  Json paths = Json::array();
  for (const RouteAbout& route : all_routes())
    paths.push_back(fmt::format("{} {}", route.method, route.path));
  const Json body{{"name", "plimsoll"}, {"version", context_.version}, {"routes", std::move(paths)}};
  co_await send_json(call.reply, 200, body.dump(2, ' ', false, replace) + "\n");
}

}  // namespace plimsoll::gateway
