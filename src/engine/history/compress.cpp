#include "engine/history/compress.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/history/older_turns.hpp"
#include "engine/history/summarise.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_compressions = 2;  // per request: the window may turn out to be smaller

bool leaves_turns_out(const Plan& plan) {
  return std::ranges::any_of(plan.pieces, [](const PlannedPiece& piece) {
    return piece.section == SectionKind::history && piece.fate != Fate::kept;
  });
}

struct Work {
  bool possible = false;
  History history;
  Rows rows;
  std::size_t count = 0;  // of the rows' turns that the summary replaces
  KeptSummary summary;    // known, or to be written
  bool known = false;
  SummarySource source;
  Tokens limit = 0;
  std::string note;  // why no model wrote it
};

Tokens tokens_of(const History& history, const Rows& rows, std::size_t count) {
  Tokens tokens = 0;
  for (std::size_t i = 0; i < count; ++i) tokens += history.turns[rows.turns[i]].tokens;
  return tokens;
}

// Describes the turns from `from` to `to` of the rows, with the summary before them.
void describe(const RequestState& state, Work& work, std::size_t from, std::size_t to,
              const KeptSummary* known) {
  const RequestParts& parts = state.parts;
  KeptSummary& made = work.summary;
  if (known != nullptr) {
    work.source.earlier = known->text;
    made.parent = known->hash;
    made.turns = known->turns;
    made.messages = known->messages;
  } else if (summary_of(parts) != nullptr) {
    work.source.earlier = parts.compressed->kept.text;
    made.parent = parts.compressed->kept.hash;
    made.turns = parts.compressed->kept.turns;
    made.messages = parts.compressed->kept.messages;
  }
  Json originals = Json::array();
  for (std::size_t row = from; row < to; ++row) {
    ++made.turns;
    for (const std::size_t i : parts.turns[work.rows.turns[row]]) {
      const Json& message = parts.body["messages"][i];
      ++made.messages;
      work.source.said.push_back(said_in(message));
      originals.push_back({{"id", message_id(parts, i)}, {"message", message}});
    }
  }
  made.hash = work.rows.names.hashes[to - 1];
  if (!work.rows.names.ends_with.empty()) made.ends_with = work.rows.names.ends_with[to - 1];
  made.at_ms = state.trace.at_ms;  // time of its turns: a session deleted since stays deleted
  if (!state.trace.session.empty()) made.originals = base::json_text(originals);
  work.count = to;
}

// Looks for a known summary, and chooses the turns for a new one if that is not enough.
Work prepare(Engine& engine, const RequestState& state) {
  Work work;
  work.history = history_of(engine, state);
  const History& history = work.history;
  work.rows = rows_of(state.parts, history, /*with_ends=*/!state.trace.session.empty());
  work.limit = conversation::summary_limit(history.room);
  if (work.rows.turns.empty()) return work;
  auto found = engine.summaries->find(state.trace.owner, state.trace.session, work.rows.names);
  std::size_t done = 0;
  Tokens taken = work.limit;
  if (found) {
    const auto model = engine.models.open(state.location, Deadline::after(std::chrono::seconds(1)));
    const Tokens tokens = model ? model->tokenizer.count(found->summary.text) : history.room;
    if (tokens > work.limit + work.limit / 4) {
      found.reset();  // it was made for a larger window
    } else {
      done = found->row + 1;
      taken = tokens;
    }
  }
  const Tokens stays = history.tokens - tokens_of(history, work.rows, done);
  std::size_t more = 0;  // turns of the rows for a new summary
  if (!found || stays + taken > history.room) {
    std::vector<conversation::TurnSize> sizes = history.turns;
    for (std::size_t i = 0; i < done; ++i) sizes[work.rows.turns[i]].tokens = 0;
    const std::size_t before = conversation::compress_before(sizes, history.room, work.limit);
    while (more < work.rows.turns.size() && work.rows.turns[more] < before) ++more;
  }
  work.possible = more > 0 || found;
  if (more > done) {
    describe(state, work, done, more, found ? &found->summary : nullptr);
  } else if (found) {
    work.known = true;
    work.count = done;
    work.summary = std::move(found->summary);
  } else {
    work.possible = false;
  }
  return work;
}

Awaitable<void> ask_models(Engine& engine, WorkerContext& worker, RequestState& state, Work& work,
                           Deadline deadline) {
  const Deadline soon = sooner(deadline, Deadline::after(engine.rules.summary_timeout));
  const std::vector<models::ModelLocation> writers = summary_writers(engine, state);
  if (writers.empty())
    work.note = fmt::format("no server has {} (summary_model)", engine.rules.summary_model);
  for (const models::ModelLocation& writer : writers) {
    if (soon.passed()) break;
    if (engine.summaries->rests(writer.member, conversation::Summaries::Clock::now())) {
      work.note = fmt::format("{} failed recently", writer.model);
      continue;
    }
    Result<UpstreamRequest> request;
    std::function<void()> preparing = [&] {
      request = summary_request(engine, writer, work.source, work.limit, soon);
    };
    co_await worker.elsewhere(std::move(preparing));
    if (!request) {
      work.note = request.error().what;
      continue;
    }
    request->owner = state.trace.owner;
    const std::string sent = request->body;
    auto written = co_await written_summary(worker, writer.member, *std::move(request), soon);
    if (co_await client_is_gone()) break;  // not the server's fault
    if (!written) {
      engine.summaries->failed(writer.member, conversation::Summaries::Clock::now());
      work.note =
          fmt::format("{}: {}", writer.model, for_the_record(engine, state, written.error().what, sent));
      continue;
    }
    engine.summaries->succeeded(writer.member);
    state.summary_used += written->used;
    work.summary.text = std::move(written->text);
    work.summary.how = "model";
    work.summary.model = writer.model;
    break;
  }
}

// Shortens the written summary to its limit, or makes an extractive one; stores it.
void finish(Engine& engine, RequestState& state, Work& work, const PlanModel& model, bool keeps) {
  KeptSummary& made = work.summary;
  if (!made.text.empty() && model.tokenizer.count(made.text) > work.limit)
    made.text = extracted({made.text, {}}, model, work.limit);
  if (made.text.empty()) {
    made.how = "extractive";
    made.model.clear();
    made.text = extracted(work.source, model, work.limit);
  }
  work.possible = !made.text.empty();
  if (!work.possible || !keeps) return;
  if (const auto kept = engine.summaries->keep(state.trace.owner, state.trace.session, made); !kept)
    log::warning("cannot store a summary", {{"trace", state.trace.id}, {"why", kept.error().what}});
}

}  // namespace

bool compression_is_due(const Engine& engine, const RequestState& state) {
  const RequestParts& parts = state.parts;
  const Plan& plan = state.plan;
  const auto most_turns = engine.rules.plan.max_history_turns;
  if (engine.summaries == nullptr || state.compressions >= most_compressions || parts.turns.empty() ||
      !parts.wishes.compress.value_or(engine.rules.compress_history) || plan.policy == Policy::strict ||
      (most_turns && std::ssize(parts.turns) > *most_turns))
    return false;
  const bool cuts = leaves_turns_out(plan);
  if (!plan.fallback.compression_due && !cuts) return false;
  const History history = history_of(engine, state);
  return (cuts || history.tokens > history.room) &&
         conversation::compress_before(history.turns, history.room,
                                       conversation::summary_limit(history.room)) > 0;
}

Awaitable<void> compress(Engine& engine, WorkerContext& worker, RequestState& state, bool may_ask,
                         Deadline deadline) {
  ++state.compressions;
  Work work;
  std::function<void()> looking = [&] { work = prepare(engine, state); };
  co_await worker.elsewhere(std::move(looking));
  const bool asks = work.possible && !work.known && may_ask;
  if (asks && engine.tell_step) engine.tell_step("summarising older turns");
  if (asks) co_await ask_models(engine, worker, state, work, deadline);
  const bool keeps = may_ask && !co_await client_is_gone();  // an interrupted model may write it later
  std::function<void()> finishing = [&] {
    const auto model = engine.models.open(state.location, deadline);
    if (!model) work.possible = false;
    if (work.possible && !work.known) finish(engine, state, work, *model, keeps);
    if (!work.possible) return;
    Replacement by{work.summary, work.summary.text, work.known};
    if (make_harmless(*model, by.text) > 0)
      state.trace.warnings.emplace_back("special-token strings in a summary were escaped");
    replace_turns(state.parts, work.history, work.rows, work.count, by);
  };
  if (work.possible) co_await worker.elsewhere(std::move(finishing));
  if (work.possible && may_ask) ++engine.counters.compressions;
  if (!work.possible) {
    state.compressions = most_compressions;
  } else if (!work.known && work.summary.how == "extractive" && may_ask) {
    ++engine.counters.extracts;
    state.trace.warnings.push_back(
        fmt::format("the summary is extractive, not written by a model ({})", work.note));
  }
}

}  // namespace plimsoll::engine
