// Reads a request, and finds the documents and the model that it names.
#include "base/clock.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "chat/forwarded.hpp"
#include "engine/client_gone.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/models_for.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {

Received::Received(Ask asked, std::string id, std::optional<TraceContext> own_span)
    : ask(std::move(asked)),
      trace_id(std::move(id)),
      at_ms(ask.at_ms > 0 ? ask.at_ms : base::utc_ms()),
      context(own_span ? *own_span : ask.caller.context),
      sends_spans(own_span && own_span->is_sampled()) {}

Awaitable<bool> client_is_gone() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return state.cancelled() != boost::asio::cancellation_type::none;
}

Result<chat::ChatRequest> read_request(const Received& received) {
  if (!received.is_chat()) return chat::read_forwarded(received.ask.kind, received.ask.body);
  return chat::read_chat(received.ask.body);
}

Result<Request> resolve(const Engine& engine, const Received& received, chat::ChatRequest chat) {
  Request request;
  request.model = chat.model;
  request.chat = std::move(chat);
  if (!received.is_chat()) return request;
  if (const auto ratio = request.chat.context_ratio; ratio && !(*ratio >= 0.2 && *ratio <= 0.8))
    return fail(Errc::bad_input, "Invalid context_token_ratio: {}. Must be between 0.2 and 0.8.", *ratio);

  // MODEL+INDEX, for clients that can only choose a model.
  const models::Upstreams& upstreams = engine.models.upstreams();
  const std::size_t plus = upstreams.plus_in(request.model);
  if (request.chat.wishes.index.empty() && plus != std::string::npos && engine.open_indexes != nullptr) {
    const std::string index = request.model.substr(plus + 1), plain = request.model.substr(0, plus);
    if (upstreams.has(plain) || engine.open_indexes->has(received.ask.caller.indexes, index)) {
      TRY(request.chat, chat::read_chat(received.ask.body, index));  // K2 as for a request with index_name
      request.model = plain;
    }
  }
  chat::RequestWishes& wishes = request.chat.wishes;
  request.names_index = !wishes.index.empty();
  if (!request.names_index) return request;
  if (engine.open_indexes == nullptr)
    return fail(Errc::not_found, "No such index: '{}' exists.", wishes.index);
  if (const std::string why = chat::why_not_documents(request.chat); !why.empty()) {
    request.notes.warnings.push_back(fmt::format("documents were not looked into: {}", why));
    wishes.index.clear();
    request.chat.altered = true;
  } else if (!request.chat.context_ratio && !received.ask.documents &&
             request.chat.policy != Policy::document_chat) {
    request.chat.context_ratio = engine.rules.context_ratio;  // B1 has its own way
  }
  if (chat::Additions& given = request.chat.additions; !wishes.index.empty() && !given.passages.empty()) {
    request.notes.warnings.push_back(
        fmt::format("plimsoll.passages were left out: the index '{}' provides the passages", wishes.index));
    given.passages.clear();
    given.score.clear();
  }
  return request;
}

Result<Routed> route(const Engine& engine, Request request) {
  Routed routed{std::move(request), {}};
  chat::ChatRequest& chat = routed.request.chat;
  TRY(routed.first.location, engine.models.upstreams().find(routed.request.model));
  if (chat.kind == RequestKind::chat && routed.request.model.empty() &&
      !routed.first.location.model.empty()) {  // the server's first, by name from here on
    routed.request.model = routed.first.location.model;
    chat.body["model"] = routed.request.model;
    chat.altered = true;
  }
  routed.first.model = routed.request.model;
  return routed;
}

bool has_additions(const Engine& engine, const Received& received, const Request& request) {
  return received.is_chat() && (wants_memories(engine, received, request) || holds_data(request.chat));
}

Result<Request> gather_additions(const Engine& engine, const Received& received, Request request,
                                 const Attempt& attempt, Deadline deadline) {
  TRY(const PlanModel model, models_for(engine, received, attempt, deadline).open(attempt.model));
  request.notes = {};
  if (wants_memories(engine, received, request))
    request = recall_memories(engine, received, std::move(request), model, deadline);
  if (holds_data(request.chat)) request = escape_data(model, std::move(request));  // memories are data
  return request;
}

bool should_pack(const Received& received, const Request& request) {
  constexpr std::size_t small = std::size_t{64} << 10;
  return received.ask.body.size() > small && !request.chat.body.is_null();
}

Request pack(Request request) {
  request.packed = base::json_text(request.chat.body);
  request.chat.body = nullptr;
  return request;
}

Request unpack(Request request) {
  if (request.packed.empty()) return request;
  request.chat.body = base::parse_json(request.packed);
  request.packed = {};
  return request;
}

}  // namespace plimsoll::engine
