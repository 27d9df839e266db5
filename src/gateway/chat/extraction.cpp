#include "gateway/chat/extraction.hpp"

#include <algorithm>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/chat_reply.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "gateway/api.hpp"
#include "gateway/http/held_answer.hpp"

namespace plimsoll::gateway {
namespace {

namespace asio = boost::asio;

constexpr std::size_t most_facts = 10, most_said = 8'000;
constexpr std::chrono::minutes extraction_patience{2};
constexpr double learned_trust = 0.4;  // less than for facts from a person

constexpr const char* extraction_prompt =
    "You keep a notebook about a user. From the exchange below, list what is worth remembering in later "
    "conversations: facts about the user, their work, their wishes and their decisions. Each must be one "
    "self-contained sentence. Leave out small talk, questions, and whatever will not matter next "
    "week. "
    "Answer with a JSON array of objects {\"text\": \"...\", \"importance\": 0.0 to 1.0} and nothing else. "
    "Answer [] if there is nothing.";

// Truncates a text at a character boundary.
std::string beginning(std::string_view text) {
  std::string out(text.substr(0, most_said));
  if (text.size() > most_said)
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
  return out;
}

std::string question_about(const RequestState& said) {
  const std::string told =
      fmt::format("User: {}\n\nAssistant: {}", beginning(said.question), beginning(said.answer));
  Json body{{"messages", Json::array({Json{{"role", "system"}, {"content", extraction_prompt}},
                                      Json{{"role", "user"}, {"content", told}}})},
            {"max_tokens", 500},
            {"temperature", 0},
            {"plimsoll", {{"memory", false}}}};
  if (!said.model.empty()) body["model"] = said.model;
  return base::json_text(body);
}

}  // namespace

std::vector<engine::NewFact> read_facts(std::string_view answer) {
  const std::size_t begin = answer.find('['), end = answer.rfind(']');
  std::vector<engine::NewFact> out;
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return out;
  const std::string_view list = answer.substr(begin, end - begin + 1);
  if (!base::check_json_shape(list, "the list")) return out;
  const Json json = base::parse_json(list);
  if (!json.is_array()) return out;
  for (const Json& one : json) {
    if (out.size() == most_facts) break;
    const bool object = one.is_object() && one.contains("text") && one["text"].is_string();
    if (!object && !one.is_string()) continue;
    engine::NewFact fact;
    fact.text = object ? one["text"].get<std::string>() : one.get<std::string>();
    fact.source = "model";
    fact.trust = learned_trust;
    if (object && one.contains("importance") && one["importance"].is_number())
      fact.importance = std::clamp(one["importance"].get<double>(), 0.0, 1.0);
    out.push_back(std::move(fact));
  }
  return out;
}

Extraction::Extraction(engine::Engine& engine, engine::Memories& memories, SessionStore& sessions,
                       ThreadMaker maker)
    : engine_(engine), memories_(memories), sessions_(sessions), maker_(std::move(maker)) {
  thread_ = std::thread([this] { server_thread_.loop().run(); });
}

Extraction::~Extraction() {
  stopping_ = true;
  asio::post(server_thread_.loop(), [this] {
    for (const auto& work : works_) work->stop.emit(asio::cancellation_type::terminal);
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (waiting_.taken() > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  server_thread_.loop().stop();
  thread_.join();
  workers_.join();  // before the loop that its work returns to
}

void Extraction::consider(RequestState said) {
  if (stopping_) return;
  if (!waiting_.take(said.caller.owner)) {
    log::warning("too many answers wait for memory extraction; one is skipped",
                 {{"waiting", waiting_.taken()}, {"owner", said.caller.owner}});
    return;
  }
  auto work = std::make_shared<Work>();
  work->said = std::move(said);
  asio::post(server_thread_.loop(), [this, work] { spawn(work); });
}

void Extraction::spawn(const std::shared_ptr<Work>& work) {
  works_.insert(work);
  // The signal must outlive the last step of its coroutine, so it is destroyed one loop turn later.
  asio::co_spawn(server_thread_.loop(), learn(work),
                 asio::bind_cancellation_slot(work->stop.slot(), [this, work](const std::exception_ptr& bug) {
                   if (bug) log::error("memory extraction ended by an exception", {});
                   waiting_.leave(work->said.caller.owner);
                   works_.erase(work);
                   asio::post(server_thread_.loop(), [work] {});
                 }));
}

// A conversation is deleted before its memories, so checking afterwards ensures that no memory outlives it.
void Extraction::keep(const RequestState& said, std::vector<engine::NewFact> facts) {
  const std::string& owner = said.caller.owner;
  const auto is_deleted = [&] {
    const auto turns = sessions_.turns(owner, said.session);
    return turns && std::ranges::find(*turns, said.trace, &Turn::trace) == turns->end();
  };
  if (is_deleted()) return;
  std::vector<std::string> kept;
  for (engine::NewFact& fact : facts) {
    fact.session = said.session;
    const auto added = memories_.add(owner, fact, Deadline::after(extraction_patience));
    if (!added)
      log::warning("cannot store a memory", {{"trace", said.trace}, {"why", added.error().what}});
    else if (added->is_new)
      kept.push_back(added->fact.id);
  }
  if (is_deleted())
    for (const std::string& id : kept) (void)memories_.forget(owner, id);
}

Awaitable<void> Extraction::learn(std::shared_ptr<Work> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  OwnerThread thread(server_thread_, Lane::interactive, work->said.caller.owner);
  engine::Ask ask;
  ask.caller = work->said.caller;
  ask.body = question_about(work->said);
  HeldAnswer held;
  std::string trace = new_trace_id();
  const auto outcome = co_await engine::answer(engine_, thread, std::move(ask), held,
                                               Deadline::after(extraction_patience), trace);
  if (!outcome || !held.problem.empty() || stopping_) {
    log::warning("no memories extracted from an answer",
                 {{"trace", trace}, {"why", outcome ? "the upstream refused" : outcome.error().what}});
    co_return;
  }
  std::function<void()> keeping = [&] { keep(work->said, read_facts(base::words_in(held.completion))); };
  co_await thread.elsewhere(std::move(keeping));
}

}  // namespace plimsoll::gateway
