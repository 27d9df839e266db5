#include "gateway/chat/chat_routes.hpp"

#include <algorithm>
#include <functional>

#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

Json turn_json(const Turn& turn) {
  return {{"role", turn.role},
          {"content", turn.text},
          {"at_ms", turn.at_ms},
          {"trace", turn.trace},
          {"collection_id", turn.collection},
          {"model_name", turn.model}};
}

ChatRoutes::Answer no_session(const std::string& name) {
  return {404, {{"detail", fmt::format("There is no session '{}'.", name)}}};
}

}  // namespace

ChatRoutes::Answer refusal(const Error& error) {
  return {status_of(error.code), {{"detail", error.what}}};
}

void ChatRoutes::add_routes(Router& router) const {
  if (context_.collections == nullptr) return;
  const Access asks_model{.asks_model = true};
  using Method = Answer (ChatRoutes::*)(const ClientRequest&, const std::string&, Deadline) const;
  const auto blocking = [this](Method handler) {
    return on_worker(Blocking(std::bind_front(handler, this)));
  };
  router.add({{"POST", "/chat/message", "documents", "Send a message to a conversation about documents",
               "ChatMessage"},
              std::bind_front(&ChatRoutes::message, this),
              asks_model});
  router.add({{"GET", "/chat/sessions", "documents", "List conversations", "", "", "sessions"},
              blocking(&ChatRoutes::list_sessions)});
  router.add({{"GET", "/chat/sessions/{id}", "documents", "Get a conversation"},
              blocking(&ChatRoutes::show_session)});
  router.add({{"DELETE", "/chat/sessions/{id}", "documents", "Delete a conversation"},
              blocking(&ChatRoutes::forget_session)});
  router.add({{"POST", "/search", "documents", "Find the chunks for a question and its model", "Search"},
              blocking(&ChatRoutes::search)});
  router.add({{"POST", "/evaluation/plugin/start-with-questions", "documents",
               "Start an evaluation of several questions", "Evaluation"},
              blocking(&ChatRoutes::start_evaluation),
              asks_model});
  router.add({{"GET", "/evaluation/runs", "documents", "List the evaluations, newest first", "",
               "EvaluationList", "most"},
              blocking(&ChatRoutes::list_evaluations)});
  router.add({{"GET", "/evaluation/runs/{id}", "documents", "Get the progress and answers of an evaluation",
               "", "EvaluationRun"},
              blocking(&ChatRoutes::show_evaluation)});
  router.add({{"POST", "/documents", "documents", "Upload files to an index", "Upload", "", "wait"},
              std::bind_front(&ChatRoutes::upload, this),
              {},
              Lane::bulk});
  router.add({{"GET", "/jobs/{id}", "documents", "Get the progress of an upload", "", "UploadJob"},
              blocking(&ChatRoutes::show_job)});
}

Result<std::string> ChatRoutes::collection_named(const engine::Caller& caller,
                                                 const std::string& collection) const {
  const auto stamp = context_.collections->store().find_stamp(caller.indexes, collection);
  if (stamp) return collection;
  if (stamp.error().code != Errc::not_found) return tl::unexpected(stamp.error());
  if (collection.find_first_not_of("0123456789") == std::string::npos) {
    TRY(const auto all, context_.collections->store().indexes(caller.indexes));
    for (const IndexInfo& info : all)
      if (std::to_string(info.id) == collection) return info.name;
  }
  return fail(Errc::not_found, "No such index: '{}' exists.", collection);
}

ChatRoutes::Answer ChatRoutes::list_sessions(const ClientRequest& request, const std::string&,
                                             Deadline) const {
  Complaints complaints;
  const auto limit = whole_parameter(request.query, "limit", 100, 1, 1'000, complaints);
  if (complaints.any()) return {422, complaints.body()};
  const auto sessions = context_.sessions->sessions(request.caller.owner, static_cast<std::size_t>(limit));
  if (!sessions) return refusal(sessions.error());
  Json list = Json::array();
  for (const SessionInfo& one : *sessions)
    list.push_back({{"session_id", one.id},
                    {"created_ms", one.created_ms},
                    {"updated_ms", one.updated_ms},
                    {"turns", one.turns},
                    {"bytes", one.bytes}});
  return {200, {{"sessions", std::move(list)}}};
}

ChatRoutes::Answer ChatRoutes::show_session(const ClientRequest& request, const std::string& name,
                                            Deadline) const {
  const auto turns = context_.sessions->turns(request.caller.owner, name);
  if (!turns) return refusal(turns.error());
  if (turns->empty()) return no_session(name);
  Json list = Json::array();
  for (const Turn& turn : *turns) list.push_back(turn_json(turn));
  return {200, {{"session_id", name}, {"turns", std::move(list)}}};
}

ChatRoutes::Answer ChatRoutes::forget_session(const ClientRequest& request, const std::string& name,
                                              Deadline) const {
  const auto gone = context_.sessions->forget(request.caller.owner, name);
  if (!gone) return refusal(gone.error());
  std::int64_t memories = 0;  // the conversation's own memories are deleted with it
  if (context_.memories != nullptr && !name.empty()) {
    const auto forgotten = context_.memories->forget_session(request.caller.owner, name);
    if (!forgotten) return refusal(forgotten.error());
    memories = forgotten->facts;
  }
  if (!*gone && memories == 0) return no_session(name);
  Json body{{"deleted", name}};
  if (memories > 0) body["memories"] = memories;
  return {200, std::move(body)};
}

ChatRoutes::Answer ChatRoutes::start_evaluation(const ClientRequest& request, const std::string&,
                                                Deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return refusal(body.error());
  EvaluationAsk ask;
  if (!complaints.any()) ask.asked = read_questions(*body, context_.bounds, complaints);
  if (complaints.any()) return {422, complaints.body()};
  auto index = collection_named(request.caller, ask.asked.collection);
  if (!index) return refusal(index.error());
  // An unknown model is reported now, not for each question.
  if (const auto location = engine_.models.upstreams().find(ask.asked.model); !location)
    return refusal(location.error());
  ask.caller = request.caller;
  ask.index = *std::move(index);
  ask.top_k = context_.bounds.usual_top_k;
  const std::size_t questions = ask.asked.questions.size();
  const auto started = context_.evaluations->start(std::move(ask));
  if (!started) return refusal(started.error());
  if (started->empty())
    return {429,
            {{"detail", fmt::format("too many evaluations are running, in total or for this key, of {} "
                                    "(max_evaluation_runs); wait until one has ended",
                                    context_.evaluations->rules().runs)}},
            {{"Retry-After", "10"}}};
  return {202, {{"run_id", *started}, {"status", "running"}, {"questions", questions}}};
}

ChatRoutes::Answer ChatRoutes::list_evaluations(const ClientRequest& request, const std::string&,
                                                Deadline) const {
  const auto limit = whole_in(request.query, "limit", 100, 1, 1'000);
  if (!limit) return refusal(limit.error());
  const auto runs =
      context_.sessions->runs(request.caller.owner, "evaluation", static_cast<std::size_t>(*limit));
  if (!runs) return refusal(runs.error());
  Json data = Json::array();
  for (const RunInfo& run : *runs) data.push_back(evaluation_json(run));
  return {200, {{"object", "list"}, {"data", std::move(data)}}};
}

ChatRoutes::Answer ChatRoutes::show_evaluation(const ClientRequest& request, const std::string& name,
                                               Deadline) const {
  const auto run = context_.sessions->run(request.caller.owner, "evaluation", name);
  if (!run) return refusal(run.error());
  return {200, evaluation_json(*run)};
}

ChatRoutes::Answer ChatRoutes::show_job(const ClientRequest& request, const std::string& name,
                                        Deadline) const {
  auto job = context_.uploads->shown(request.caller.owner, name);
  if (!job) return refusal(job.error());
  return {200, *std::move(job)};
}

}  // namespace plimsoll::gateway
