#include "engine/served_format.hpp"

#include <array>

#include "base/json/here_or_elsewhere.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "count/chat/chat_content.hpp"
#include "engine/client_gone.hpp"

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
UpstreamRequest to_render(const Engine& engine, const Planned& planned, std::string_view body) {
  UpstreamRequest request;
  request.body = body;
  request.model = planned.location.model;
  request.refuse_inexpressible = false;
  request.load_window = engine.models.window_to_load(planned.location, planned.figures.needs());
  return request;
}

// The server's rendering of each probe; empty if it does not accept the chat.
struct Shown {
  std::array<std::string, probes.size()> texts;
  bool tells = false;
  bool broke_off = false;  // try again another time
};

Awaitable<Shown> ask_for_renderings(const Engine& engine, WorkerContext& worker, const Planned& planned,
                                    Deadline deadline) {
  Shown shown;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    Json body = base::parse_json(probes[i].body);
    body["model"] = planned.location.model;
    UpstreamRequest request = to_render(engine, planned, body.dump());
    auto text = co_await worker.link(planned.location.member).rendered(std::move(request), deadline);
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

// Returns whether the messages have an order that no probe has: two of one role in a row, which Ollama
// joins, or a system prompt in the middle. Also true for a request that cannot be read.
bool has_odd_turns(std::string_view request) {
  const Json body = base::parse_json(request);
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
Awaitable<std::optional<Tokens>> rendered_tokens(const Engine& engine, WorkerContext& worker,
                                                 const Received& received, const Planned& planned,
                                                 const PlanModel& model, Deadline deadline) {
  UpstreamRequest request = to_render(engine, planned, planned.outgoing(received));
  request.resources = &worker;
  const auto text = co_await worker.link(planned.location.member).rendered(std::move(request), deadline);
  if (!text) co_return std::nullopt;
  const TokenizerInfo& info = model.tokenizer.info();
  const bool bos = info.adds_bos && !info.bos.empty() && !text->starts_with(info.bos);
  const auto count = [&] { return model.tokenizer.count(*text, Specials::parsed) + (bos ? 1 : 0); };
  co_return co_await base::off_thread_if_long(&worker, text->size(), count);
}

// Returns our format that the server uses; asks the server for a few renderings if that is not known yet.
Awaitable<models::ServedFormat> learned_format(const Engine& engine, WorkerContext& worker,
                                               const Planned& planned, const PlanModel& model,
                                               Deadline deadline) {
  const Shown shown = co_await ask_for_renderings(engine, worker, planned, deadline);
  const models::ServedFormat format = shown.tells ? recognised(model, shown) : models::ServedFormat{};
  log::info("chat format of a model", {{"model", planned.location.model},
                                       {"format", format.chats ? format.name : "none of ours"},
                                       {"chats", format.chats},
                                       {"tools", format.tools},
                                       {"told", shown.tells}});
  const bool gone = co_await client_is_gone();
  if (shown.broke_off || gone) co_return models::ServedFormat{};
  engine.models.learn_format(planned.location, format);
  co_return format;
}

}  // namespace

Awaitable<Compared> compare_rendering(const Engine& engine, WorkerContext& worker, const Received& received,
                                      const Request& request, const Attempt& attempt, Planned planned,
                                      Deadline deadline) {
  Compared compared{std::move(planned)};
  Planned& now = compared.planned;
  if (!received.is_chat() || engine.models.upstreams().kind_of(now.location.member) != ServerKind::ollama)
    co_return compared;
  const Deadline soon = sooner(deadline, Deadline::after(patience));
  const auto model = engine.models.open(now.location, soon);
  if (!model) co_return compared;
  auto format = engine.models.format_of(now.location);
  if (!format) {
    format = co_await learned_format(engine, worker, now, *model, soon);
    if (format->chats && format->name != model->chat.chat_template) {
      compared.again = Replan{Replan::Reason::server_renders_longer, attempt};
      co_return compared;
    }
  }
  const chat::ChatRequest& chat = request.chat;
  if (chat::calls_tools(chat) ? format->tools : format->chats) {
    const std::string_view sent = now.outgoing(received);
    const auto reading = [sent] { return has_odd_turns(sent); };
    if (!co_await base::off_thread_if_long(&worker, sent.size(), reading)) co_return compared;
  }
  if (chat::has_parts_besides_text(chat)) co_return compared;
  const auto tokens = co_await rendered_tokens(engine, worker, received, now, *model, soon);
  if (!tokens) {
    now.figures.exactness = worse(now.figures.exactness, Exactness::calibrated);
    compared.notes.warnings.emplace_back(
        "the server cannot show its rendering of this chat; the count is calibrated");
    co_return compared;
  }
  const Tokens more = *tokens - now.figures.input;
  now.plan.input = now.figures.input = *tokens;
  now.figures.exactness = model->exactness;
  now.figures.margin -= attempt.kept_free;  // it covered this difference
  now.plan.margin = now.figures.margin;
  if (now.figures.needs() <= now.figures.window || more <= attempt.kept_free) co_return compared;
  compared.again = Replan{Replan::Reason::server_renders_longer, attempt};
  compared.again->next.kept_free = more;  // the next plan keeps this much free
  co_return compared;
}

}  // namespace plimsoll::engine
