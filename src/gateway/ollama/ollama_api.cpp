// Ollama's routes; chats and prompts use the same engine as the other APIs.
#include "base/chat_reply.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/held_reply.hpp"
#include "gateway/http/translating_sink.hpp"
#include "gateway/ollama/ollama_answer.hpp"
#include "gateway/ollama/ollama_models.hpp"

namespace plimsoll::gateway {
namespace {

Awaitable<void> send_ollama_error(ClientReply& reply, const Error& error,
                                  std::vector<HttpHeader> headers = {}) {
  if (error.code == Errc::unreachable) headers.push_back({"Retry-After", "2"});
  std::string body = ollama_error(error.what);
  co_await send_json(reply, status_of(error.code), std::move(body), std::move(headers));
}

// Returns the server kind of a model; for MODEL+INDEX, that of MODEL.
Result<ServerKind> kind_for(const models::Upstreams& upstreams, const std::string& model) {
  TRY(const models::ModelLocation location,
      upstreams.find(std::string_view(model).substr(0, upstreams.plus_in(model))));
  return upstreams.kind_of(location.member);
}

struct Prepared {
  std::string model;  // the client's name for it
  OllamaAsk ask;
};

Result<Prepared> prepare(OllamaRoute route, const std::string& body, const models::Upstreams& upstreams,
                         const engine::EngineRules& rules) {
  Prepared prepared;
  TRY(const Json json, read_ollama_body(body));
  TRY(prepared.model, ollama_model_in(json));
  OllamaTarget target;
  target.model = without_latest(upstreams, {}, prepared.model);
  target.refuse_inexpressible = rules.refuse_inexpressible;
  TRY(target.kind, kind_for(upstreams, target.model));
  TRY(prepared.ask, read_ollama_ask(route, json, target));
  return prepared;
}

// Converts OpenAI's list to {"embeddings": [...]}, in the order of the texts.
Result<Json> embeddings_in(std::string_view reply) {
  Json json = base::parse_json(reply);
  if (!json.is_object())
    return fail(Errc::upstream_failed, "the upstream's embeddings are not a JSON object");
  if (json.contains("embeddings")) return json;
  const auto data = json.find("data");
  if (data == json.end() || !data->is_array())
    return fail(Errc::upstream_failed, "the upstream's answer has no embeddings");
  Json vectors = Json::array();
  for (const Json& one : *data) {
    if (!one.is_object() || !one.contains("embedding") || !one["embedding"].is_array())
      return fail(Errc::upstream_failed, "the upstream's embeddings are not lists of numbers");
    vectors.push_back(one["embedding"]);
  }
  Json out{{"embeddings", std::move(vectors)}};
  const auto usage = json.find("usage");
  if (usage != json.end() && usage->is_object() && usage->contains("prompt_tokens"))
    out["prompt_eval_count"] = (*usage)["prompt_tokens"];
  return out;
}

// Uses Ollama's native API, without truncation unless the client wants it.
Result<ClientRequest> embedding_request(const std::string& body, const models::Upstreams& upstreams,
                                        const std::vector<std::string>& embedders, bool is_old,
                                        std::string& model) {
  TRY(const Json json, read_ollama_body(body));
  TRY(model, ollama_model_in(json));
  const std::string plain = without_latest(upstreams, embedders, model);
  const char* field = is_old ? "prompt" : "input";
  const Json input = json.contains(field) ? json[field] : Json("");
  const auto kind = kind_for(upstreams, plain);
  Json out{{"model", plain}, {"input", input}};
  if (json.contains("dimensions") && !json["dimensions"].is_null()) out["dimensions"] = json["dimensions"];
  ClientRequest request;
  request.method = "POST";
  request.content_type = "application/json";
  request.path = "/v1/embeddings";
  if (kind && *kind == ServerKind::ollama) {
    request.path = "/api/embed";
    for (const char* name : {"options", "keep_alive"})
      if (json.contains(name)) out[name] = json[name];
    out["truncate"] = json.contains("truncate") && json["truncate"] == true;
  }
  request.body = base::json_text(out);
  return request;
}

}  // namespace

Awaitable<void> Api::ollama_ask(Call call, OllamaRoute route) const {
  auto prepared = co_await base::off_thread_if_long(&call.thread, call.request.body.size(), [&] {
    return prepare(route, call.request.body, context_.upstreams, context_.engine.rules);
  });
  if (!prepared) {
    co_await send_ollama_error(call.reply, prepared.error());
    co_return;
  }
  OllamaAnswer answer(route, prepared->model, prepared->ask.num_ctx);
  for (std::string& note : prepared->ask.notes) answer.add_note(std::move(note));
  if (prepared->ask.only_loads) {
    co_await send_json(call.reply, 200, answer.loaded(prepared->ask.unloads) + "\n");
    co_return;
  }
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = call.request.path;
  ask.kind = prepared->ask.kind;
  ask.body = std::move(prepared->ask.body);
  ask.window_wish = prepared->ask.num_ctx;
  std::string trace = new_trace_id();
  const auto outcome = co_await answer_translated(context_.engine, call.thread, std::move(ask), call.reply,
                                                  answer, prepared->ask.stream, call.deadline, trace);
  if (!outcome) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_ollama_error(call.reply, outcome.error(), std::move(headers));
  }
}

Awaitable<void> Api::ollama_chat(Call call) const {
  co_await ollama_ask(call, OllamaRoute::chat);
}

Awaitable<void> Api::ollama_generate(Call call) const {
  co_await ollama_ask(call, OllamaRoute::generate);
}

Awaitable<void> Api::ollama_embed(Call call) const {
  const auto begun = Deadline::Clock::now();
  const bool is_old = call.request.path == "/api/embeddings";
  std::string model;
  auto asked = co_await base::off_thread_if_long(&call.thread, call.request.body.size(), [&] {
    return embedding_request(call.request.body, context_.upstreams, context_.embedders.names, is_old, model);
  });
  if (!asked) {
    co_await send_ollama_error(call.reply, asked.error());
    co_return;
  }
  asked->caller = call.request.caller;
  HeldReply held;
  const Call inner{call.thread, *asked, held, call.deadline};
  co_await embeddings(inner);
  if (held.said.status >= 400) {
    held.said.length.reset();
    co_await send_json(call.reply, held.said.status, ollama_error(base::said_in_error(held.text)),
                       std::move(held.said.headers));
    co_return;
  }
  Result<std::string> body;
  std::function<void()> work = [&] {
    auto made = embeddings_in(held.text);
    if (!made) {
      body = tl::unexpected(made.error());
      return;
    }
    const auto time = std::chrono::nanoseconds(Deadline::Clock::now() - begun).count();
    const Json& vectors = (*made)["embeddings"];
    Json out{{"model", model}, {"embeddings", vectors}, {"total_duration", time}, {"load_duration", 0}};
    if (made->contains("prompt_eval_count")) out["prompt_eval_count"] = (*made)["prompt_eval_count"];
    if (is_old)
      out = Json{{"embedding", vectors.is_array() && !vectors.empty() ? vectors[0] : Json::array()}};
    body = base::json_text(out);
  };
  co_await call.thread.elsewhere(std::move(work));
  if (body)
    co_await send_json(call.reply, 200, *std::move(body), std::move(held.said.headers));
  else
    co_await send_ollama_error(call.reply, body.error());
}

Awaitable<void> Api::ollama_tags(Call call) const {
  std::string body;
  std::function<void()> work = [&] {
    const bool running = call.request.path == "/api/ps";
    const Json json = running ? gateway::ollama_running(context_.engine, context_.upstreams)
                              : gateway::ollama_tags(context_.engine, context_.upstreams, call.request.caller,
                                                     context_.embedders.names);
    body = base::json_text(json);
  };
  co_await call.thread.elsewhere(std::move(work));
  co_await send_json(call.reply, 200, std::move(body));
}

Awaitable<void> Api::ollama_show(Call call) const {
  Result<Json> shown;
  std::function<void()> work = [&] {
    const auto json = read_ollama_body(call.request.body);
    const auto model = json ? ollama_model_in(*json) : tl::unexpected(json.error());
    if (!model) {
      shown = tl::unexpected(model.error());
      return;
    }
    const std::string plain = without_latest(context_.upstreams, context_.embedders.names, *model);
    if (is_own_embedder(plain)) {
      const auto embedder = context_.embedders.find(plain);
      shown = embedder ? Result<Json>(gateway::ollama_show((*embedder)->info()))
                       : tl::unexpected(embedder.error());
      return;
    }
    shown =
        gateway::ollama_show(context_.engine, context_.upstreams, plain, call.request.caller, call.deadline);
  };
  co_await call.thread.elsewhere(std::move(work));
  if (shown)
    co_await send_json(call.reply, 200, base::json_text(*shown));
  else
    co_await send_ollama_error(call.reply, shown.error());
}

Awaitable<void> Api::ollama_version(Call call) const {
  const Json body{{"version", gateway::ollama_version}, {"plimsoll", context_.version}};
  co_await send_json(call.reply, 200, body.dump());
}

// Pulling, creating and deleting models is left to the model servers.
Awaitable<void> Api::ollama_other(Call call) const {
  co_await send_json(call.reply, 501,
                     ollama_error(fmt::format("{} is not available here; use the model server directly",
                                              call.request.path.substr(0, 100))));
}

}  // namespace plimsoll::gateway
