#include "ask/conversation.hpp"

#include <algorithm>

#include <fmt/ranges.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "ask/answer_check.hpp"
#include "base/chat_reply.hpp"
#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"
#include "chat/chat_request.hpp"
#include "engine/evidence/follow_up.hpp"
#include "gateway/api.hpp"
#include "gateway/http/server_thread.hpp"
#include "serve/embedded.hpp"
#include "serve/served_gateway.hpp"
#include "terminal/interrupt.hpp"

namespace plimsoll {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

constexpr std::chrono::minutes patience{30};  // small machines are slow; the user can press Ctrl-C

// Keeps the engine's answer; its words go on as they come.
class WordSink final : public engine::AnswerSink {
 public:
  explicit WordSink(const std::function<void(std::string_view)>& words) : words_(words) {}

  Awaitable<Result<void>> whole(const engine::AnswerStart&, const ReplyBody& body,
                                const engine::AnswerReport* report) override {
    add(base::words_in(body.text));
    spoken_.finish_reason = body.facts.finish_reason;
    if (report != nullptr) tell(*report);
    co_return Result<void>();
  }
  Awaitable<Result<void>> begin(const engine::AnswerStart&) override { co_return Result<void>(); }
  Awaitable<Result<void>> events(const AnswerEvents& events) override {
    for (const AnswerEvent& event : events.each) {
      if (event.facts.is_error) problem_ = base::said_in_error(event.data);
      if (!event.facts.finish_reason.empty()) spoken_.finish_reason = event.facts.finish_reason;
      add(base::words_in(event.data));
    }
    co_return Result<void>();
  }
  Awaitable<Result<void>> end(const engine::AnswerEnd& end) override {
    if (end.broken != nullptr) problem_ = end.broken->what;
    if (end.report != nullptr) tell(*end.report);
    co_return Result<void>();
  }
  Awaitable<Result<void>> refused(const engine::AnswerStart& start, const ReplyBody& body) override {
    problem_ = fmt::format("the upstream '{}' did not answer: {}", start.trace.upstream, start.from.outcome);
    if (!body.said.empty()) problem_ += fmt::format(": {}", body.said);
    co_return Result<void>();
  }
  Awaitable<Result<void>> turned_away(const Trace&, const engine::Refusal& refusal) override {
    problem_ = refusal.what;
    co_return Result<void>();
  }

  Result<Spoken> take() {
    if (!problem_.empty()) return fail(Errc::upstream_failed, "{}", problem_);
    return std::move(spoken_);
  }

 private:
  void tell(const engine::AnswerReport& report) {
    spoken_.without_documents = report.without_documents;
    spoken_.nothing_near = report.nothing_near;
    spoken_.rewritten = report.rewritten;
    spoken_.is_compressed = report.plan.summary.has_value();
    for (const auto& [number, found] : report.passages) {
      const SelectedPassage& passage = found->passage;
      spoken_.sources.push_back({number, passage.key, passage.path, passage.text, passage.page,
                                 passage.last_page, passage.first_line, passage.last_line});
    }
  }

  void add(const std::string& text) {
    if (text.empty()) return;
    spoken_.text += text;
    words_(text);
  }

  const std::function<void(std::string_view)>& words_;
  std::string problem_;
  Spoken spoken_;
};

// Passes requests on to a server. While `is_off`, answers a streamed one with an empty text: the request is
// planned, filled with passages and traced as usual, and no model runs.
class SwitchedLink final : public UpstreamLink {
 public:
  SwitchedLink(std::unique_ptr<UpstreamLink> link, const bool& is_off)
      : link_(std::move(link)), is_off_(is_off) {}

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    // Calls of the engine itself, for example for summaries, are not streamed.
    if (!is_off_ || !request.stream) return link_->send(std::move(request), deadline);
    return silence();
  }
  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) override {
    return link_->rendered(std::move(request), deadline);
  }

 private:
  static Awaitable<Result<std::unique_ptr<UpstreamReply>>> silence() {
    ReplyHead head{200, {{"content-type", "text/event-stream"}}};
    std::string events = R"(data: {"id":"quoted","object":"chat.completion.chunk","choices":[{"index":0,)"
                         R"("delta":{"role":"assistant","content":""},"finish_reason":"stop"}]})"
                         "\n\ndata: [DONE]\n\n";
    auto stream = std::make_unique<base::WholeReply>(std::move(head), std::move(events));
    co_return base::chat_reply(std::move(stream), std::size_t{1} << 20);
  }

  std::unique_ptr<UpstreamLink> link_;
  const bool& is_off_;
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
  bool models_off = false;  // no model is asked
  gateway::ThreadMaker maker;
  gateway::WorkerPool workers{{.threads = 1}};
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

Result<std::unique_ptr<Conversation>> Conversation::open(const config::Settings& settings,
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
  state->maker.link = [make = state->maker.link, &off = state->models_off](HttpStreams& streams,
                                                                           std::size_t member) {
    return std::make_unique<SwitchedLink>(make(streams, member), off);
  };
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

namespace {

constexpr std::chrono::seconds evidence_patience{60};

// Returns the sentences of the evidence that are in the sources, in reading order. They point into
// `evidence`.
std::vector<QuotableSentence> quotable(const Evidence& evidence, const std::vector<Source>& sources) {
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, QuotableSentence>> found;
  for (const Stretch& stretch : evidence.stretches)
    for (const ScoredSentence& sentence : stretch.sentences) {
      const std::string_view text = stretch.text_of(sentence);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::size_t at =
            sources[i].document == stretch.document->key ? sources[i].text.find(text) : std::string::npos;
        if (at == std::string::npos) continue;
        found.push_back({{i, at},
                         {.text = text,
                          .source = sources[i].number,
                          .score = sentence.score,
                          .relevance = sentence.relevance}});
        break;
      }
    }
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<QuotableSentence> out;
  for (auto& [place, sentence] : found) out.push_back(sentence);
  return out;
}

// Returns what was answered before, a line for each answer.
std::string answers_in(const Json& request) {
  std::string answers;
  for (const Json& message : request["messages"])
    if (message["role"] == "assistant") answers += message["content"].get<std::string>() + "\n";
  return answers;
}

}  // namespace

Result<Spoken> Conversation::quote(Json request, const std::string& question,
                                   std::function<void(std::string_view)> step) {
  const std::string answers = answers_in(request);
  const std::string index = request.value("index_name", "");
  const std::string body = base::json_text(request);
  state_->models_off = true;
  auto spoken = say(
      std::move(request), [](std::string_view) {}, std::move(step));
  state_->models_off = false;
  if (!spoken) return spoken;
  spoken->is_quoted = true;
  library::OpenIndexes* const open_indexes = state_->gateway->engine().open_indexes;
  if (spoken->sources.empty() || open_indexes == nullptr || !spoken->nothing_near.empty()) return spoken;
  TRY(const auto loaded, open_indexes->take(engine::Caller{}.indexes, index));
  retrieve::GatherOptions options;
  options.links = false;  // a quote has to answer by itself; linked sentences only add to another one
  if (const auto parts = chat::read_chat(body)) {
    engine::FollowUp before = engine::earlier_words(*parts, spoken->rewritten);
    options.context = std::move(before.context);
    options.context_weight = before.weight;
  }
  TRY(const Evidence evidence,
      library::find_evidence(loaded->open, question, options, Deadline::after(evidence_patience)));
  QuoteLimits limits;
  if (!options.context.empty()) limits.already_said = answers;  // the question depends on them
  spoken->text = quote_answer(quotable(evidence, spoken->sources), limits).text;
  return spoken;
}

Similarity Conversation::similarity(const std::string& index) {
  library::OpenIndexes* const open_indexes = state_->gateway->engine().open_indexes;
  if (open_indexes == nullptr) return {};
  const auto loaded = open_indexes->take(engine::Caller{}.indexes, index);
  if (!loaded || (*loaded)->open.embedders.empty() || (*loaded)->open.embedders.front() == nullptr) return {};
  // The gateway keeps the index and its embedder.
  return similarity_of(*(*loaded)->open.embedders.front());
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

bool Conversation::is_small(const std::string& name) const {
  const models::Upstreams& upstreams = state_->gateway->upstreams();
  const auto found = upstreams.find(name);
  const models::LocalModel* const model =
      found ? upstreams.members()[found->member].embedded_model(found->model) : nullptr;
  return model != nullptr && plimsoll::is_small(*model);
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
