#include "ask/conversation.hpp"

#include <fmt/ranges.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/http/server_thread.hpp"
#include "serve/served_gateway.hpp"
#include "terminal/interrupt.hpp"

namespace plimsoll {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

constexpr std::chrono::minutes patience{30};  // small machines are slow; the user can press Ctrl-C

// Receives the engine's answer as events or as one error.
class WordSink final : public engine::AnswerSink {
 public:
  explicit WordSink(const std::function<void(std::string_view)>& words) : words_(words) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override {
    status_ = head.status;
    co_return Result<void>();
  }

  Awaitable<Result<void>> body(std::string_view bytes) override {
    held_ += bytes;
    if (status_ >= 400) co_return Result<void>();
    for (std::size_t end; (end = held_.find("\n\n")) != std::string::npos; held_.erase(0, end + 2))
      take_event(std::string_view(held_).substr(0, end));
    co_return Result<void>();
  }

  Result<Spoken> take() {
    if (status_ >= 400) problem_ = message_in(held_);
    if (!problem_.empty()) return fail(Errc::upstream_failed, "{}", problem_);
    return std::move(spoken_);
  }

 private:
  static std::string message_in(const std::string& body) {
    const Json json = base::parse_json(body);
    const Json error = json.is_object() ? json.value("error", Json()) : Json();
    const Json message = error.is_object() ? error.value("message", Json()) : error;
    return message.is_string() ? message.get<std::string>() : "the model did not answer";
  }

  void take_event(std::string_view event) {
    constexpr std::string_view mark = "data: ";
    if (!event.starts_with(mark)) return;
    const std::string data(event.substr(mark.size()));
    const Json chunk = base::parse_json(data);
    if (!chunk.is_object()) return;  // [DONE]
    if (chunk.contains("error")) problem_ = message_in(data);
    for (const Json& choice : chunk.value("choices", Json::array())) {
      const Json content = choice.value("delta", Json::object()).value("content", Json());
      if (content.is_string()) add(content.get_ref<const std::string&>());
      const Json reason = choice.value("finish_reason", Json());
      if (reason.is_string()) spoken_.finish_reason = reason.get<std::string>();
    }
    const Json told = chunk.value("plimsoll", Json::object());
    spoken_.without_documents = told.value("without_documents", spoken_.without_documents);
    spoken_.nothing_near = told.value("nothing_near", spoken_.nothing_near);
    for (const Json& passage : told.value("passages", Json::array()))
      spoken_.sources.push_back(
          {passage.value("number", std::size_t{0}), passage.value("document", ""), passage.value("path", ""),
           passage.value("text", ""), passage.value("page", std::uint64_t{0}),
           passage.value("first_line", std::uint64_t{0}), passage.value("last_line", std::uint64_t{0})});
  }

  void add(const std::string& text) {
    spoken_.text += text;
    words_(text);
  }

  const std::function<void(std::string_view)>& words_;
  int status_ = 200;
  std::string held_, problem_;
  Spoken spoken_;
};

// Polls for Ctrl-C.
Awaitable<void> watch(const Interrupt& interrupt, asio::cancellation_signal& stop, const bool& over) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (!over) {
    if (interrupt.wanted()) stop.emit(asio::cancellation_type::terminal);
    timer.expires_after(std::chrono::milliseconds(50));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace

struct Conversation::State {
  std::unique_ptr<ServedGateway> gateway;
  gateway::ThreadMaker maker;
  asio::thread_pool workers{1};
  std::unique_ptr<gateway::ServerThread> thread;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { workers.join(); }

  // Runs the work to its end, or until Ctrl-C.
  template <typename T>
  Result<T> run(Awaitable<Result<T>> work) {
    const Interrupt interrupt;
    asio::cancellation_signal stop;
    bool over = false;
    Result<T> outcome = fail(Errc::upstream_failed, "no answer");
    asio::io_context& loop = thread->loop();
    asio::co_spawn(
        loop, std::move(work),
        asio::bind_cancellation_slot(stop.slot(), [&](const std::exception_ptr& bug, Result<T> result) {
          over = true;
          if (!bug) outcome = std::move(result);
        }));
    asio::co_spawn(loop, watch(interrupt, stop, over), [](const std::exception_ptr&) {});
    while (!over) loop.run_one();                 // NOLINT(bugprone-infinite-loop): the handler above ends it
    loop.run_for(std::chrono::milliseconds(60));  // lets the watch notice the end
    return outcome;
  }
};

Conversation::Conversation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Conversation::~Conversation() = default;

Result<std::unique_ptr<Conversation>> Conversation::open(const base::Settings& settings,
                                                         const std::vector<std::string>& upstreams) {
  auto state = std::make_unique<State>();
  TRY(auto members, gateway_upstreams(settings, upstreams));
  if (members.empty())
    return fail(Errc::not_found,
                "no model available: no local Ollama answers, and no embedded model is installed. Run "
                "`plimsoll model get smollm2:135m`, or give a server with --upstream URL");
  TRY(state->gateway, ServedGateway::open(settings, std::move(members)));
  // In a small index a question may be near no passage. Then the nearest one is sent, with a
  // warning.
  state->gateway->engine().rules.consult.keeps_best = true;
  state->gateway->upstreams().refresh(state->gateway->for_a_list());
  state->maker = state->gateway->thread_maker();
  state->thread = std::make_unique<gateway::ServerThread>(state->maker, state->workers);
  return std::unique_ptr<Conversation>(new Conversation(std::move(state)));
}

Result<Spoken> Conversation::say(Json request, const std::function<void(std::string_view)>& words,
                                 std::function<void(std::string_view)> step) {
  request["stream"] = true;
  request["plimsoll"]["explain"] = true;  // needed to draw the trace
  engine::Ask ask;
  ask.body = base::json_text(request);
  ask.in_full = true;
  WordSink sink(words);
  std::string trace_id = gateway::new_trace_id();
  engine::Engine& engine = state_->gateway->engine();
  engine.tell_step = std::move(step);
  TRY_VOID(state_->run(
      engine::answer(engine, *state_->thread, std::move(ask), sink, Deadline::after(patience), trace_id)));
  TRY(Spoken spoken, sink.take());
  if (engine.traces != nullptr) engine.traces->flush();
  TRY(spoken.trace, state_->gateway->traces().trace("local", trace_id));
  return spoken;
}

Result<void> Conversation::check_index(const std::string& name) {
  library::OpenIndexes* const open_indexes = state_->gateway->engine().open_indexes;
  if (open_indexes == nullptr) return fail(Errc::not_found, "no index is called '{}'", name);
  TRY_VOID(open_indexes->store().find_index(engine::Caller{}.indexes, name));
  return {};
}

Result<void> Conversation::check_model(const std::string& name) const {
  const models::Upstreams& upstreams = state_->gateway->upstreams();
  if (name.empty() || name.find('+') != std::string::npos) return {};  // "model+index"
  const auto found = upstreams.find(name);
  if (found || found.error().code != Errc::unknown_model) return {};
  constexpr std::size_t shown = 10;
  std::vector<std::string> names;
  for (const models::UpstreamList& member : *upstreams.models())
    for (const models::ListedModel& model : member.models) names.push_back(model.name);
  if (names.empty())
    return fail(Errc::unknown_model, "no upstream has the model '{}', and none lists its models", name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = base::nearest(name, known);
  const std::size_t more = names.size() - std::min(names.size(), shown);
  names.resize(names.size() - more);
  return fail(Errc::unknown_model, "no upstream has the model '{}'{}; available: {}{}", name,
              near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(names, ", "),
              more > 0 ? fmt::format(" and {} more, which `plimsoll models` lists", more) : "");
}

bool Conversation::is_embedded() const {
  const models::Upstreams& upstreams = state_->gateway->upstreams();
  return upstreams.members().size() == 1 && upstreams.is_embedded(0);
}

std::string Conversation::model_named(const std::string& name) const {
  const auto found = state_->gateway->upstreams().find(name);
  return found ? found->model : std::string();
}

Result<engine::AddedFact> Conversation::remember(const std::string& text) {
  engine::NewFact fact;
  fact.text = text;
  constexpr std::chrono::seconds soon{30};
  return state_->gateway->memories().add(local_owner, fact, Deadline::after(soon));
}

Result<Plan> Conversation::plan(const Json& request) {
  engine::Ask ask;
  ask.body = base::json_text(request);
  ask.in_full = true;
  engine::Engine& engine = state_->gateway->engine();
  return state_->run(engine::plan_only(engine, *state_->thread, std::move(ask), Deadline::after(patience)));
}

}  // namespace plimsoll
