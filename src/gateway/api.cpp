#include "gateway/api.hpp"

#include <atomic>
#include <functional>
#include <random>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/private_words.hpp"
#include "engine/plan/plan_tree.hpp"
#include "gateway/auth/gate.hpp"
#include "gateway/console/page.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/target.hpp"
#include "gateway/kaito/kaito_read.hpp"
#include "gateway/mcp/mcp_schema.hpp"
#include "gateway/openai/models_json.hpp"
#include "gateway/openai/openai_answer.hpp"

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
  Json json = base::parse_json(body);
  if (json.is_discarded()) return fail(Errc::bad_input, "the body of the request is not JSON");
  if (!json.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  return json;
}

// What is asked for at the routes that `ask_model` serves.
RequestKind kind_of(std::string_view path) {
  for (const RequestKind kind :
       {RequestKind::completion, RequestKind::embedding, RequestKind::ollama_embedding})
    if (path == route_of(kind)) return kind;
  return RequestKind::chat;
}

// Returns the model that a tool is given, if its server has to be asked for its window.
std::optional<models::ModelLocation> unknown_model(const models::UpstreamModels& models,
                                                   const Json& arguments) {
  const auto model = arguments.find("model");
  if (model == arguments.end() || !model->is_string()) return std::nullopt;
  const std::string& name = model->get_ref<const std::string&>();
  auto location = models.served_as(name);
  if (!name.empty() && models.upstreams().has(name))
    if (const auto found = models.upstreams().find(name)) location = *found;
  return location && models.asks_server(*location) ? location : std::nullopt;
}

Json prompt_json(const engine::ShownPrompt& prompt) {
  if (prompt.bytes == 0) return {{"text", nullptr}, {"why", prompt.why}};
  return {{"text", prompt.text},
          {"end", prompt.end},
          {"bytes", prompt.bytes},
          {"left_out_bytes", prompt.bytes - prompt.text.size() - prompt.end.size()},
          {"template", prompt.format},
          {"exactness", name_of(prompt.exactness)},
          {"why", prompt.why.empty() ? Json() : Json(prompt.why)}};
}

}  // namespace

std::string new_trace_id() {
  static std::atomic<std::uint32_t> count = std::random_device{}();
  return fmt::format("{:011x}{:08x}", base::utc_ms(), count.fetch_add(1));
}

Api::Api(ApiContext context)
    : context_(std::move(context)),
      watched_(std::make_shared<RagMetrics>()),
      kaito_(with_metrics(context_.kaito, watched_.get())),
      chat_(context_.engine, context_.chat),
      memory_(context_.memories),
      responses_(context_.engine, context_.chat.sessions),
      traces_(context_.traces, context_.engine.feed, context_.gate),
      view_(context_.view) {
  add_own_routes();
  responses_.add_routes(router_);
  kaito_.add_routes(router_);
  chat_.add_routes(router_);
  memory_.add_routes(router_);
  traces_.add_routes(router_);
  view_.add_routes(router_);
}

void Api::add_own_routes() {
  const Access asks_model{.asks_model = true, .reserves = true}, is_public{.needs_key = false};
  using Method = Awaitable<void> (Api::*)(Call) const;
  const auto add = [&](RouteAbout about, Method handler, Access access = {}, Lane lane = Lane::interactive) {
    router_.add({about, std::bind_front(handler, this), access, lane});
  };
  router_.add({{"POST", "/v1/chat/completions", "openai", "A chat, planned for its window", "Chat", "Answer"},
               std::bind_front(&Api::ask_model, this),
               asks_model,
               Lane::interactive,
               RagRoute::chat});
  add({"POST", "/v1/completions", "openai", "A text to go on with", "Completion", "Answer"}, &Api::ask_model,
      asks_model);
  add({"POST", "/v1/messages", "anthropic", "A message", "Messages", "MessageAnswer"}, &Api::messages,
      asks_model);
  add({"POST", "/v1/messages/count_tokens", "anthropic", "The tokens of a message's request",
       "MessagesCount"},
      &Api::count_messages);
  add({"POST", "/v1/embeddings", "openai", "Vectors of texts", "Embedding"}, &Api::embeddings, asks_model,
      Lane::bulk);
  add({"GET", "/v1/models", "openai", "The models with their served windows", "", "Models"}, &Api::models, {},
      Lane::upstreams);
  add({"GET", "/v1/models/{model...}", "openai", "One of them"}, &Api::model, {}, Lane::upstreams);
  add({"POST", "/v1/plan", "planner", "What a chat would get of its window", "Chat", "Plan", "window render"},
      &Api::plan);
  add({"POST", "/v1/count", "planner", "The tokens of a text or of messages", "Count", "Counted"},
      &Api::count);
  add({"POST", "/v1/strategy", "planner", "Whether to paste or to retrieve", "Strategy"}, &Api::strategy);
  add({"POST", "/api/chat", "ollama", "A chat", "OllamaChat", "OllamaAnswer"}, &Api::ollama_chat, asks_model);
  add({"POST", "/api/generate", "ollama", "A text", "OllamaGenerate", "OllamaAnswer"}, &Api::ollama_generate,
      asks_model);
  add({"POST", "/api/embed", "ollama", "Vectors of texts", "OllamaEmbed"}, &Api::ollama_embed, asks_model,
      Lane::bulk);
  add({"POST", "/api/embeddings", "ollama", "The vector of a text", "OllamaEmbed"}, &Api::ollama_embed,
      asks_model, Lane::bulk);
  add({"GET", "/api/tags", "ollama", "The models"}, &Api::ollama_tags, {}, Lane::upstreams);
  add({"GET", "/api/ps", "ollama", "The models that were asked for"}, &Api::ollama_tags, {}, Lane::upstreams);
  add({"POST", "/api/show", "ollama", "What is known of a model", "OllamaModel"}, &Api::ollama_show, {},
      Lane::upstreams);
  add({"GET", "/api/version", "ollama", "Which Ollama this is as good as"}, &Api::ollama_version);
  add({"POST", "/api/{other...}", "ollama", "What only an Ollama can do: refused", "OllamaModel"},
      &Api::ollama_other);
  add({"POST", "/mcp", "mcp", "A message of the Model Context Protocol", "Rpc", "RpcReply"}, &Api::mcp);
  add({"POST", "/admin/models/refresh", "operation", "Ask the upstreams for their models anew"},
      &Api::refresh_models, {}, Lane::upstreams);
  add({"GET", "/health", "operation", "Whether the process answers"}, &Api::health, is_public);
  add({"GET", "/ready", "operation", "Which upstreams answer", "", "Ready"}, &Api::ready, is_public);
  add({"GET", "/metrics", "operation", "Counters, for Prometheus", "", "text"}, &Api::metrics);
  add({"GET", "/openapi.json", "operation", "This description"}, &Api::describe);
  add({"POST", "/v1/search", "console", "Search an index within a budget of tokens", "BudgetSearch", "Found"},
      &Api::search);
  if (context_.console)
    router_.add({{"GET", "/console/{file...}", "console", "Files of the web console", "", "file"},
                 send_console_file,
                 is_public});
  add({"GET", "/", "operation", "The routes, or the web console for browsers"}, &Api::root, is_public);
}

Awaitable<void> Api::refuse_route(Call call, const Router::Match& match) const {
  const bool found = !match.allowed.empty();
  const Error error{found ? Errc::bad_input : Errc::not_found, found ? "Method Not Allowed" : "Not Found"};
  const int status = found ? 405 : 404;
  const std::string_view path = call.request.path;
  const ErrorForm form = error_form_of(path, call.request.anthropic_version);
  const bool is_ragengine = form == ErrorForm::openai && !path.starts_with("/v");
  std::string body = is_ragengine ? Json{{"detail", error.what}}.dump() : error_body(form, status, error);
  std::vector<HttpHeader> headers;
  if (found) headers.push_back({"Allow", match.allowed});
  co_await send_json(call.reply, status, std::move(body), std::move(headers));
}

Awaitable<void> Api::ask_model(Call call) const {
  if (context_.kaito.compat && call.request.path == "/v1/chat/completions") {
    const auto read = [&call] {
      Complaints found;
      (void)read_object(call.request.body, found);
      return found;
    };
    const Complaints complaints =
        co_await base::off_thread_if_long(&call.thread, call.request.body.size(), read);
    if (complaints.any()) {
      co_await send_json(call.reply, 422, base::json_text(complaints.body()));
      co_return;
    }
  }
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.kind = kind_of(call.request.path);
  ask.body = std::move(call.request.body);
  std::string trace = new_trace_id();
  OpenAiAnswer answer(call.thread, call.reply, context_.kaito.compat);
  const auto outcome =
      co_await engine::answer(context_.engine, call.thread, std::move(ask), answer, call.deadline, trace);
  if (outcome || call.reply.is_begun()) co_return;
  std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
  co_await send_error(call.reply, outcome.error(), std::move(headers));
}

Awaitable<void> Api::plan(Call call) const {
  const std::size_t size = call.request.body.size();
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.body = std::move(call.request.body);
  ask.in_full = true;
  constexpr std::int64_t largest_window = 1'000'000'000;
  const auto window = whole_in(call.request.query, "window", 0, 1, largest_window);
  if (!window) {
    co_await send_error(call.reply, window.error());
    co_return;
  }
  if (*window > 0) ask.window_wish = *window;
  Complaints complaints;
  const bool renders = flag_parameter(call.request.query, "render", complaints);
  if (complaints.any()) {
    const Error wrong{Errc::bad_input, "render must be true or false"};
    co_await send_error(call.reply, wrong);
    co_return;
  }
  if (renders) {
    auto shown =
        co_await engine::plan_with_prompt(context_.engine, call.thread, std::move(ask), call.deadline);
    if (!shown) {
      co_await send_error(call.reply, shown.error());
      co_return;
    }
    const auto write = [&shown] {
      const engine::PlanWithPrompt whole = *std::move(shown);  // freed here too
      Json plan = engine::plan_tree(whole.plan);
      base::hide_from_clients(plan);
      plan["rendered"] = prompt_json(whole.prompt);
      return base::json_text(plan);
    };
    std::string text = co_await base::off_thread_if_long(&call.thread, size, write);
    co_await send_json(call.reply, 200, std::move(text));
    co_return;
  }
  auto plan = co_await engine::plan_only(context_.engine, call.thread, std::move(ask), call.deadline);
  if (!plan) {
    co_await send_error(call.reply, plan.error());
    co_return;
  }
  const auto write = [&plan] {
    const Plan whole = *std::move(plan);  // freed here too
    return base::for_clients(plan_json(whole));
  };
  std::string text = co_await base::off_thread_if_long(&call.thread, size, write);
  co_await send_json(call.reply, 200, std::move(text));
}

// A tool's arguments as a body, its result as the reply.
Awaitable<void> Api::use_tool(Call call, std::string_view name,
                              const std::function<void(Json&)>& mend) const {
  Result<std::string> text = fail(Errc::not_found, "no tool is called '{}'", name);
  std::optional<models::ModelLocation> unknown;
  std::function<void()> work = [&] {
    const auto arguments = read_json(call.request.body);
    if (!arguments) {
      text = tl::unexpected(arguments.error());
      return;
    }
    if (arguments->contains("file_paths")) {
      text = fail(Errc::bad_input,
                  "file_paths are for the command line and for MCP; send char_count, or the text");
      return;
    }
    if (!unknown && (unknown = unknown_model(context_.engine.models, *arguments))) return;
    const McpSession session{.indexes = call.request.caller.indexes, .owner = call.request.caller.owner};
    for (const McpTool& tool : context_.tools.tools) {
      if (tool.name != name) continue;
      const Json given = without_nulls(*arguments, tool.input_schema);
      const auto checked = check_schema(given, tool.input_schema);
      Result<Json> result = checked ? tool.call(given, session) : tl::unexpected(checked.error());
      if (result && mend) mend(*result);
      text = result ? Result<std::string>(base::json_text(*result)) : tl::unexpected(result.error());
    }
  };
  co_await call.thread.elsewhere(work);
  if (unknown) {
    co_await engine::find_window(context_.engine, call.thread, *unknown, call.deadline);
    co_await call.thread.elsewhere(work);
  }
  if (text)
    co_await send_json(call.reply, 200, *std::move(text));
  else
    co_await send_error(call.reply, text.error());
}

Awaitable<void> Api::count(Call call) const {
  // The window that is served stands above the catalogue's.
  const std::function<void(Json&)> served = [&](Json& result) {
    const std::string name = result.value("model", std::string());
    const auto location = name.empty() || !context_.upstreams.has(name) ? tl::unexpected(Error{})
                                                                        : context_.upstreams.find(name);
    const auto model =
        location ? context_.engine.models.open(*location, call.deadline) : tl::unexpected(Error{});
    if (!model) return;
    result["window"] = model->window.tokens;
    result["window_source"] = name_of(model->window.source);
  };
  co_await use_tool(call, "count_tokens", served);
}

Awaitable<void> Api::strategy(Call call) const {
  co_await use_tool(call, "context_strategy", {});
}

Awaitable<void> Api::search(Call call) const {
  co_await use_tool(call, "search_documents", {});
}

Awaitable<void> Api::models(Call call) const {
  std::string body;
  std::function<void()> work = [&] {
    auto all = models_json(context_.engine, context_.upstreams, call.request.caller);
    for (const std::string& name : context_.embedders.names) all["data"].push_back(embedder_json(name));
    body = base::json_text(call.request.anthropic_version.empty() ? all : anthropic_models_json(all));
  };
  co_await call.thread.elsewhere(std::move(work));
  co_await send_json(call.reply, 200, std::move(body));
}

Awaitable<void> Api::model(Call call) const {
  const std::string& name = call.name;
  Json found;
  std::function<void()> work = [&] {
    found = is_own_embedder(name)
                ? embedder_json(name)
                : model_json(context_.engine, context_.upstreams, call.request.caller, name);
  };
  co_await call.thread.elsewhere(std::move(work));
  const std::string& version = call.request.anthropic_version;
  if (!found.is_null()) {
    if (!version.empty()) found = anthropic_model_json(std::move(found));
    co_await send_json(call.reply, 200, base::json_text(found));
    co_return;
  }
  const Error error = context_.upstreams.not_listed(name);
  const int status = status_of(error.code);
  co_await send_json(call.reply, status,
                     error_body(error_form_of(call.request.path, version), status, error));
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
    context_.upstreams.refresh(call.deadline);
    responses_.ask_all_again();
  };
  co_await call.thread.elsewhere(std::move(work));
  co_await models(call);
}

Awaitable<void> Api::health(Call call) const {
  co_await send_json(call.reply, 200, R"({"status":"Healthy","detail":null})");
}

Awaitable<void> Api::ready(Call call) const {
  const auto models = context_.upstreams.models();
  Json upstreams = Json::array();
  for (std::size_t i = 0; i < models->size(); ++i) {
    const models::UpstreamList& member = (*models)[i];
    upstreams.push_back(
        {{"name", base::for_clients(context_.upstreams.members()[i].name)},
         {"kind", name_of(member.kind)},
         {"models", member.models.size()},
         {"problem", member.problem.empty() ? Json() : Json(base::for_clients(member.problem))}});
  }
  const Json body{{"status", "ready"}, {"version", context_.version}, {"upstreams", std::move(upstreams)}};
  co_await send_json(call.reply, 200, base::json_text(body));
}

std::vector<RouteAbout> Api::all_routes() const {
  std::vector<RouteAbout> all;
  for (const Route& route : router_.routes()) all.push_back(route.about);
  return all;
}

Awaitable<void> Api::describe(Call call) const {
  std::call_once(described_, [&] { description_ = openapi(all_routes(), context_.version).dump(); });
  co_await send_json(call.reply, 200, description_);
}

Awaitable<void> Api::root(Call call) const {
  if (context_.console && accepts_html(call.request.accept)) {
    co_await send_page(call);
    co_return;
  }
  Json paths = Json::array();
  for (const RouteAbout& route : all_routes())
    paths.push_back(fmt::format("{} {}", route.method, route.path));
  const Json body{{"name", "plimsoll"}, {"version", context_.version}, {"routes", std::move(paths)}};
  std::string text = body.dump(2, ' ', false, replace) + "\n";
  std::vector<HttpHeader> headers{{"Vary", "Accept"}};
  co_await send_json(call.reply, 200, std::move(text), std::move(headers));
}

}  // namespace plimsoll::gateway
