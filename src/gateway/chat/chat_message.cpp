// POST /chat/message and POST /search.
#include <algorithm>

#include "base/clock.hpp"
#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "chat/chat_request.hpp"
#include "engine/evidence/document_chat.hpp"
#include "engine/evidence/follow_up.hpp"
#include "gateway/api.hpp"
#include "gateway/chat/chat_routes.hpp"
#include "gateway/error_json.hpp"
#include "library/nodes.hpp"

namespace plimsoll::gateway {
namespace {

// A question that names no subject of its own is searched together with what the conversation is about.
retrieve::GatherOptions options_for(const MessageAsk& ask) {
  retrieve::GatherOptions options;
  if (ask.history.empty()) return options;
  const auto parts = chat::read_chat(chat_body(ask, {}, ask.history));
  engine::FollowUp earlier = parts ? engine::earlier_words(*parts) : engine::FollowUp();
  options.context = std::move(earlier.context);
  options.context_weight = earlier.weight;
  return options;
}

// Drops what a request without a budget does not get (docs/search.md). Lengths are compared if `tokenizer` is
// given.
void apply_cutoff(std::vector<library::RankedNode>& nodes, const std::optional<Tokenizer>& tokenizer) {
  const retrieve::Cutoff cutoff;
  std::erase_if(nodes, [&](const library::RankedNode& node) { return node.relevance < cutoff.best; });
  if (nodes.empty() || !tokenizer) return;
  const double least = cutoff.share * nodes.front().score;
  Tokens taken = 0;
  std::erase_if(nodes, [&](const library::RankedNode& node) {
    if (taken >= cutoff.sure && node.score < least) return true;
    taken += tokenizer->count(node.node.text);
    return false;
  });
}

}  // namespace

ChatRoutes::Prepared ChatRoutes::prepare(const ClientRequest& request) const {
  Prepared out;
  const std::int64_t now =
      base::utc_ms();  // before the turns are read: a session deleted meanwhile stays deleted
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) {
    out.refused = refusal(body.error());
    return out;
  }
  if (!complaints.any()) out.ask = read_message(*body, "message", context_.bounds, complaints);
  if (complaints.any()) {
    out.refused = Answer{422, complaints.body()};
    return out;
  }
  auto index = collection_named(request.caller, out.ask.collection);
  const auto history = out.ask.session.empty()
                           ? Result<std::vector<Turn>>()
                           : context_.sessions->turns(request.caller.owner, out.ask.session);
  if (!index || !history) {
    out.refused = refusal(index ? history.error() : index.error());
    return out;
  }
  if (out.ask.session.empty()) out.ask.session = random_id();
  out.index = *std::move(index);
  out.body = chat_body(out.ask, out.index, *history);
  out.question = {"user", out.ask.message, now, {}, out.index, out.ask.model};
  return out;
}

// The turn is on disk before the end of the reply is sent.
Awaitable<void> ChatRoutes::message(Call call) const {
  Prepared prepared;
  std::function<void()> reading = [&] { prepared = prepare(call.request); };
  co_await call.thread.elsewhere(std::move(reading));
  if (prepared.refused) {
    co_await send_json(call.reply, prepared.refused->status, base::json_text(prepared.refused->body));
    co_return;
  }
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = call.request.path;
  ask.body = std::move(prepared.body);
  ask.documents.emplace();
  ask.recall = true;
  ask.at_ms = prepared.question.at_ms;
  ask.documents->top_k = prepared.ask.top_k;
  ChatSink sink(call.thread, call.reply, prepared.ask.stream, engine_.rules.max_answer_bytes);
  std::string trace = new_trace_id();
  const auto outcome =
      co_await engine::answer(engine_, call.thread, std::move(ask), sink, call.deadline, trace);
  if (!outcome) {
    if (call.reply.is_begun()) co_return;
    const Answer refused = refusal(outcome.error());
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_json(call.reply, refused.status, base::json_text(refused.body), std::move(headers));
    co_return;
  }
  Result<void> kept;
  Json body;
  int status = 200;
  std::function<void()> keeping = [&] {
    auto answer = sink.take();
    if (!answer) {
      status = sink.status();
      body = {{"detail", answer.error().what}};
      return;
    }
    Turn& question = prepared.question;
    question.trace = trace;
    question.model = answer->model;
    const Turn said{"assistant", answer->text, base::utc_ms(), trace, question.collection, question.model};
    const Turn pair[] = {question, said};
    kept = context_.sessions->append(call.request.caller.owner, prepared.ask.session, pair, context_.limits);
    if (!kept) {
      status = status_of(kept.error().code);
      body = {{"detail", fmt::format("the answer could not be stored: {}", kept.error().what)}};
      return;
    }
    if (context_.extraction != nullptr)
      context_.extraction->consider({call.request.caller, prepared.ask.model, prepared.ask.session,
                                     prepared.ask.message, answer->text, trace});
    body = answer_json(*std::move(answer));
    body["session_id"] = prepared.ask.session;
    body["collection_id"] = prepared.ask.collection;
    body["trace_id"] = trace;
  };
  co_await call.thread.elsewhere(std::move(keeping));
  co_await sink.finish(status, std::move(body));
}

// B1 for a search: the query, the system prompt and the history that the client will send with the passages.
ChatRoutes::Search ChatRoutes::search_for(const MessageAsk& ask, Deadline deadline) const {
  Search search;
  engine::RetrievalChoice& choice = search.choice;
  choice.model = ask.model;
  choice.original_top_k = ask.top_k;
  const models::Upstreams& upstreams = engine_.models.upstreams();
  const auto location = upstreams.find(ask.model);
  auto model = location ? engine_.models.open(*location, deadline) : tl::unexpected(location.error());
  if (location && location->model.empty()) model = fail(Errc::unknown_model, "no model available");
  if (!model) {
    log::warning("no window for a search: top_k unchanged",
                 {{"model", ask.model}, {"why", model.error().what}, {"top_k", ask.top_k}});
    return search;
  }
  search.tokenizer = model->tokenizer;
  choice = engine::choice_for(location->model, model->window, ask.top_k);
  Tokens history = 0;
  for (const Turn& turn : ask.history) history += model->tokenizer.count(turn.text);
  choice.room =
      budget::retrieval_room(model->window.tokens, model->tokenizer.count(ask.system_prompt),
                             model->tokenizer.count(ask.message), history, engine_.rules.plan.retrieval);
  search.best_last =
      engine_.rules.best_last_for_ollama && upstreams.kind_of(location->member) == ServerKind::ollama;
  engine::log_retrieval(choice, search.best_last);
  return search;
}

ChatRoutes::Answer ChatRoutes::search(const ClientRequest& request, const std::string&,
                                      Deadline deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return refusal(body.error());
  MessageAsk ask;
  if (!complaints.any()) ask = read_message(*body, "query", context_.bounds, complaints);
  if (complaints.any()) return {422, complaints.body()};
  const auto index = collection_named(request.caller, ask.collection);
  if (!index) return refusal(index.error());
  const auto loaded = context_.collections->open_indexes().take(request.caller.indexes, *index);
  if (!loaded) return refusal(loaded.error());
  const Search search = search_for(ask, deadline);
  const engine::RetrievalChoice& choice = search.choice;
  std::vector<library::RankedNode> nodes;
  if (choice.used() > 0) {
    auto ranked = library::rank_nodes((*loaded)->open, ask.message, static_cast<std::size_t>(choice.used()),
                                      options_for(ask), deadline);
    if (!ranked) return refusal(ranked.error());
    nodes = *std::move(ranked);
  }
  // A client that gives a number gets that many; a threshold in the settings replaces the cutoff.
  if (!ask.names_top_k && !engine_.rules.consult.similarity_threshold) apply_cutoff(nodes, search.tokenizer);
  Json chunks = Json::array();
  Tokens left = choice.room.room;
  for (const library::RankedNode& ranked : nodes) {
    Json chunk{{"content", ranked.node.text},
               {"score", ranked.score},
               {"relevance", ranked.relevance},
               {"document", ranked.node.document},
               {"metadata", json_from(ranked.node.metadata)},
               {"chunk_id", ranked.node.id()}};
    if (search.tokenizer) {
      const Tokens tokens = search.tokenizer->count(ranked.node.text);
      if (tokens > left) continue;  // a smaller one may fit
      left -= tokens;
      chunk["tokens"] = tokens;
    }
    chunks.push_back(std::move(chunk));
  }
  if (search.best_last) std::reverse(chunks.begin(), chunks.end());
  return {200,
          {{"query", ask.message},
           {"collection_id", ask.collection},
           {"chunks", std::move(chunks)},
           {"metadata", {{"context_window_optimization", engine::retrieval_json(choice)}}}}};
}

}  // namespace plimsoll::gateway
