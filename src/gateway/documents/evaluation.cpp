#include "gateway/documents/evaluation.hpp"

#include <charconv>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/private_words.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/chat/chat_answer.hpp"
#include "gateway/http/held_answer.hpp"

namespace plimsoll::gateway {
namespace {

namespace asio = boost::asio;

Json asked_json(const EvaluationQuestions& asked) {
  return {{"collection_id", asked.collection},
          {"llm_model", asked.model},
          {"user_id", asked.user},
          {"questions", asked.questions.size()}};
}

Json result_json(const std::string& question, const std::string& trace, double seconds) {
  return {{"question", question}, {"answer", nullptr}, {"passages", Json::array()}, {"plan", nullptr},
          {"error", nullptr},     {"trace", trace},    {"seconds", seconds}};
}

// A stored error has the address of the server that failed.
Json shown_error(const Json& error) {
  return error.is_string() ? Json(base::for_clients(error.get_ref<const std::string&>())) : error;
}

Json head_json(std::string_view id, RunState state, std::string_view asked) {
  Json out{{"run_id", id}, {"status", name_of(state)}};
  if (const Json what = base::parse_json(asked); what.is_object()) out.update(what);
  return out;
}

}  // namespace

Evaluations::Evaluations(engine::Engine& engine, SessionStore& store, ThreadMaker maker,
                         EvaluationRules rules)
    : engine_(engine), store_(store), maker_(std::move(maker)), rules_(std::move(rules)) {
  thread_ = std::thread([this] { server_thread_.loop().run(); });
}

Evaluations::~Evaluations() {
  stopping_ = true;
  asio::post(server_thread_.loop(), [this] {
    for (const auto& work : works_) work->stop.emit(asio::cancellation_type::terminal);
  });
  // If it takes longer, the next server marks the run as interrupted.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (running_.taken() > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  server_thread_.loop().stop();
  thread_.join();
  workers_.join();  // before the loop that its work returns to
}

Result<std::string> Evaluations::start(EvaluationAsk ask) {
  if (!running_.take(ask.caller.owner)) return std::string();
  Run run;
  run.id = random_id();
  run.owner = ask.caller.owner;
  run.kind = "evaluation";
  run.asked = base::json_text(asked_json(ask.asked));
  if (const auto begun = store_.begin_run(run, rules_.kept); !begun) {
    running_.leave(run.owner);
    return tl::unexpected(begun.error());
  }
  auto work = std::make_shared<Work>(server_thread_, run.id, std::move(ask));
  asio::post(server_thread_.loop(), [this, work] { spawn(work); });
  return run.id;
}

void Evaluations::spawn(const std::shared_ptr<Work>& work) {
  works_.insert(work);
  // The signal must outlive the last step of its coroutine, so it is destroyed one loop turn later.
  asio::co_spawn(server_thread_.loop(), run(work),
                 asio::bind_cancellation_slot(work->stop.slot(), [this, work](const std::exception_ptr& bug) {
                   if (bug) log::error("an evaluation ended by an exception", {{"run", work->id}});
                   running_.leave(work->ask.caller.owner);
                   works_.erase(work);
                   asio::post(server_thread_.loop(), [work] {});
                 }));
}

Awaitable<std::optional<Refusal>> Evaluations::may_ask(Work& work) {
  const Deadline longest = Deadline::after(rules_.per_question);
  while (rules_.refuses) {
    std::optional<Refusal> refusal;
    // May wait for the store.
    std::function<void()> asking = [&] { refusal = rules_.refuses(work.ask.caller.owner); };
    co_await work.thread.elsewhere(std::move(asking));
    const std::chrono::seconds wait(refusal ? refusal->retry_after_seconds : 0);
    if (wait.count() == 0 || wait > longest.left() || stopping_) co_return refusal;
    co_await server_thread_.pause(wait);
    if (stopping_) co_return refusal;
  }
  co_return std::nullopt;
}

Awaitable<Json> Evaluations::ask_one(Work& work, const std::string& question) {
  const Deadline longest = Deadline::after(rules_.per_question);
  while (true) {
    HeldAnswer held;
    Json result = co_await ask_once(work, question, held, longest);
    if (!held.wait || *held.wait > longest.left() || stopping_) co_return result;
    co_await server_thread_.pause(*held.wait);
    if (stopping_) co_return result;
  }
}

Awaitable<Json> Evaluations::ask_once(Work& work, const std::string& question, HeldAnswer& held,
                                      Deadline deadline) {
  if (const auto refusal = co_await may_ask(work)) {
    Json refused = result_json(question, {}, 0);
    refused["error"] = refusal->what;
    co_return refused;
  }
  MessageAsk message;
  message.message = question;
  message.model = work.ask.asked.model;
  engine::Ask ask;
  ask.caller = work.ask.caller;
  ask.route = "/evaluation/plugin/start-with-questions";
  ask.body = chat_body(message, work.ask.index, {});
  ask.documents.emplace();
  ask.documents->top_k = work.ask.top_k;
  ask.recall = false;  // a run is stored, but a memory can be deleted
  std::string trace = new_trace_id();
  const auto begun = Deadline::Clock::now();
  const auto outcome = co_await engine::answer(engine_, work.thread, std::move(ask), held, deadline, trace);
  const std::chrono::duration<double> took = Deadline::Clock::now() - begun;
  Json result = result_json(question, trace, took.count());
  if (!outcome) {
    result["error"] = outcome.error().what;
    co_return result;
  }
  if (!held.problem.empty()) {
    result["error"] = held.problem;
    co_return result;
  }
  auto answer = read_document_answer(held.completion, std::move(held.report));
  if (!answer) {
    result["error"] = answer.error().what;
    co_return result;
  }
  result["answer"] = std::move(answer->text);
  result["passages"] = std::move(answer->chunks);
  result["plan"] = std::move(answer->plimsoll);
  result["metadata"] = {{"context_window_optimization", std::move(answer->optimization)},
                        {"usage", std::move(answer->usage)}};
  co_return result;
}

Awaitable<void> Evaluations::run(std::shared_ptr<Work> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const std::string& owner = work->ask.caller.owner;
  Result<void> kept;
  for (const std::string& question : work->ask.asked.questions) {
    if (stopping_ || !kept) break;
    const Json result = co_await ask_one(*work, question);
    if (stopping_) break;  // interrupted
    std::function<void()> keeping = [&] { kept = store_.add_part(owner, work->id, base::json_text(result)); };
    co_await work->thread.elsewhere(std::move(keeping));
  }
  const RunState state = stopping_ ? RunState::interrupted : kept ? RunState::done : RunState::failed;
  const Json outcome{{"error", kept ? Json() : Json(kept.error().what)}};
  std::function<void()> ending = [&] { kept = store_.end_run(owner, work->id, state, outcome.dump()); };
  co_await work->thread.elsewhere(std::move(ending));
  if (!kept)
    log::warning("cannot store the end of an evaluation", {{"run", work->id}, {"why", kept.error().what}});
}

Json evaluation_json(const RunInfo& run) {
  Json out = head_json(run.id, run.state, run.asked);
  out["done"] = run.parts;
  out["created_ms"] = run.created_ms;
  out["ended_ms"] = run.ended_ms > 0 ? Json(run.ended_ms) : Json();
  return out;
}

Json evaluation_json(const Run& run) {
  Json out = head_json(run.id, run.state, run.asked);
  Json results = Json::array();
  std::size_t failed = 0;
  for (const std::string& part : run.parts) {
    Json one = base::parse_json(part);
    if (!one.is_object()) continue;
    if (!one["error"].is_null()) ++failed;
    one["error"] = shown_error(one["error"]);
    results.push_back(std::move(one));
  }
  out["answered"] = results.size() - failed;
  out["failed"] = failed;
  out["created_ms"] = run.created_ms;
  out["ended_ms"] = run.ended_ms > 0 ? Json(run.ended_ms) : Json();
  const Json outcome = base::parse_json(run.outcome);
  out["error"] = outcome.is_object() ? shown_error(outcome.value("error", Json())) : Json();
  if (run.state == RunState::interrupted)
    out["error"] = "the server was stopped before all questions were answered; start the run again";
  out["results"] = std::move(results);
  return out;
}

}  // namespace plimsoll::gateway
