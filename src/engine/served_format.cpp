#include "engine/served_format.hpp"

#include <array>

#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "count/chat/chat_request.hpp"
#include "engine/evidence/protect.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds patience{30};  // the server may have to load the model first

// Chats that distinguish formats: with and without a system prompt, with turns, and with tools.
struct Probe {
  bool tools;
  const char* body;
};
constexpr std::array<Probe, 4> probes{{
    {false, R"({"messages":[{"role":"user","content":"Where is the line?"}]})"},
    {false,
     R"({"messages":[{"role":"system","content":"You are a mate."},{"role":"user","content":"Ahoy"},{"role":"assistant","content":"Aye."},{"role":"user","content":"How deep?"}]})"},
    {true,
     R"({"messages":[{"role":"user","content":"How deep?"}],"tools":[{"type":"function","function":{"name":"sound","description":"Depth below the keel.","parameters":{"type":"object","properties":{"side":{"type":"string","description":"port or starboard"}},"required":["side"]}}}]})"},
    {true,
     R"({"messages":[{"role":"user","content":"How deep?"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"sound","arguments":"{\"side\": \"port\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"12 fathoms"},{"role":"user","content":"And now?"}],"tools":[{"type":"function","function":{"name":"sound","description":"Depth below the keel.","parameters":{"type":"object","properties":{"side":{"type":"string","description":"port or starboard"}},"required":["side"]}}}]})"},
}};

// Uses the same window as the answer, or the server would load the model twice.
UpstreamRequest to_render(Engine& engine, const RequestState& state, std::string_view body) {
  UpstreamRequest request;
  request.route = state.ask.route;
  request.body = body;
  request.model = state.location.model;
  request.refuse_inexpressible = false;
  request.num_ctx = engine.models.num_ctx_for(state.location, state.needs());
  return request;
}

// The server's rendering of each probe; empty if it does not accept the chat.
struct Shown {
  std::array<std::string, probes.size()> texts;
  bool tells = false;
  bool broke_off = false;  // try again another time
};

Awaitable<Shown> ask_for_renderings(Engine& engine, WorkerContext& worker, const RequestState& state,
                                    Deadline deadline) {
  Shown shown;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    Json body = base::parse_json(probes[i].body);
    body["model"] = state.location.model;
    UpstreamRequest request = to_render(engine, state, body.dump());
    auto text = co_await worker.link(state.location.member).rendered(std::move(request), deadline);
    if (text) {
      shown.texts[i] = *std::move(text);
    } else {
      const Errc code = text.error().code;
      shown.broke_off = shown.broke_off || code == Errc::unreachable || code == Errc::timed_out;
      if (i == 0) co_return shown;
    }
    shown.tells = true;
  }
  co_return shown;
}

bool renders_alike(const PlanModel& model, const std::string& format, const char* body,
                   const std::string& shown) {
  ChatOptions options = model.chat;
  options.chat_template = format;
  options.keep_rendered = true;
  const auto counted = count_chat(model.tokenizer, body, options);
  return counted && !shown.empty() && counted->rendered == shown;
}

// Returns the format that renders most probes like the server; plain chats come first.
models::ServedFormat recognised(const PlanModel& model, const Shown& shown) {
  std::vector<std::string> formats{model.chat.chat_template};
  for (const std::string_view name : chat_templates()) formats.emplace_back(name);
  models::ServedFormat best;
  for (const std::string& format : formats) {
    models::ServedFormat found{format, true, true};
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const bool alike = renders_alike(model, format, probes[i].body, shown.texts[i]);
      if (!probes[i].tools) found.chats = found.chats && alike;
      if (probes[i].tools) found.tools = found.tools && alike;
    }
    if (found.chats && (!best.chats || (found.tools && !best.tools))) best = found;
    if (best.chats && best.tools) break;
  }
  return best;
}

bool has_tools(const RequestState& state) {
  for (const Json& message : state.parts.body["messages"])
    if (message["role"] == "tool" || message.contains("tool_calls")) return true;
  return state.parts.body.contains("tools");
}

bool has_images(const RequestState& state) {
  for (const Json& message : state.parts.body["messages"])
    if (message.contains("content") && message["content"].is_array()) return true;
  return false;
}

// Returns whether the messages have an order that no probe has: two of one role in a row, which Ollama
// joins, or a system prompt in the middle. Also true for a request that cannot be read.
bool has_odd_turns(const RequestState& state) {
  const Json body = base::parse_json(state.outgoing());
  if (!body.is_object() || !body.contains("messages")) return true;
  std::string before;
  for (const Json& message : body["messages"]) {
    const Json role = message.value("role", Json());
    if (!role.is_string() || role == before || (role == "system" && !before.empty())) return true;
    before = role.get<std::string>();
  }
  return false;
}

// Counts the server's own rendering.
Awaitable<std::optional<Tokens>> rendered_tokens(Engine& engine, WorkerContext& worker,
                                                 const RequestState& state, const PlanModel& model,
                                                 Deadline deadline) {
  UpstreamRequest request = to_render(engine, state, state.outgoing());
  const auto text = co_await worker.link(state.location.member).rendered(std::move(request), deadline);
  if (!text) co_return std::nullopt;
  const TokenizerInfo& info = model.tokenizer.info();
  const bool bos = info.adds_bos && !info.bos.empty() && !text->starts_with(info.bos);
  co_return model.tokenizer.count(*text, Specials::parsed) + (bos ? 1 : 0);
}

}  // namespace

Awaitable<bool> differs_from_the_servers(Engine& engine, WorkerContext& worker, RequestState& state,
                                         Deadline deadline) {
  if (!is_chat(state) || engine.models.upstreams().kind_of(state.location.member) != ServerKind::ollama)
    co_return false;
  const Deadline soon = sooner(deadline, Deadline::after(patience));
  const auto model = engine.models.open(state.location, soon);
  if (!model) co_return false;
  auto format = engine.models.format_of(state.location);
  if (!format) {
    const Shown shown = co_await ask_for_renderings(engine, worker, state, soon);
    format = shown.tells ? recognised(*model, shown) : models::ServedFormat{};
    const std::string name = format->chats ? format->name : std::string("none of ours");
    log::info("chat format of a model", {{"model", state.location.model},
                                         {"format", name},
                                         {"chats", format->chats},
                                         {"tools", format->tools},
                                         {"told", shown.tells}});
    const bool gone = co_await client_is_gone();
    if (shown.broke_off || gone)
      format = models::ServedFormat{};
    else
      engine.models.learn_format(state.location, *format);
    if (format->chats && format->name != model->chat.chat_template) co_return true;
  }
  if ((has_tools(state) ? format->tools : format->chats) && !has_odd_turns(state)) co_return false;
  if (has_images(state)) co_return false;
  const auto tokens = co_await rendered_tokens(engine, worker, state, *model, soon);
  Trace& trace = state.trace;
  if (!tokens) {
    trace.exactness = worse(trace.exactness, Exactness::calibrated);
    trace.warnings.emplace_back("the server cannot show its rendering of this chat; the count is calibrated");
    co_return false;
  }
  const Tokens more = *tokens - trace.input;
  trace.input = *tokens;
  trace.exactness = model->exactness;
  state.plan.input = *tokens;
  state.plan.margin = trace.margin =
      trace.margin - state.rendered_longer;  // the rest covered this difference
  if (state.needs() <= trace.window || more <= state.rendered_longer) co_return false;
  state.rendered_longer = more;  // the next plan keeps this much free
  co_return true;
}

}  // namespace plimsoll::engine
