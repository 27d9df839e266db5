#include "engine/history/compress.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "engine/client_gone.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/history/older_turns.hpp"
#include "engine/history/summarise.hpp"
#include "engine/own_words.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_compressions = 2;  // per request: the window may turn out to be smaller

bool leaves_turns_out(const Plan& plan) {
  return std::ranges::any_of(plan.pieces, [](const PlannedPiece& piece) {
    return piece.section == SectionKind::history && piece.fate != Fate::kept;
  });
}

// Everything that making a summary starts from.
struct Work {
  bool possible = false;
  History history;
  Rows rows;
  std::size_t count = 0;  // of the rows' turns that the summary replaces
  KeptSummary summary;    // known, or to be written
  bool known = false;
  SummarySource source;
  Tokens limit = 0;
};

Tokens tokens_of(const History& history, const Rows& rows, std::size_t count) {
  Tokens tokens = 0;
  for (std::size_t i = 0; i < count; ++i) tokens += history.turns[rows.turns[i]].tokens;
  return tokens;
}

// Describes the turns from `from` to `to` of the rows, with the summary before them.
void describe(const Received& received, const chat::ChatRequest& parts, Work& work, std::size_t from,
              std::size_t to, const KeptSummary* known) {
  KeptSummary& made = work.summary;
  if (known != nullptr) {
    work.source.earlier = known->text;
    made.parent = known->hash;
    made.turns = known->turns;
    made.messages = known->messages;
  } else if (parts.compressed) {
    work.source.earlier = parts.compressed->kept.text;
    made.parent = parts.compressed->kept.hash;
    made.turns = parts.compressed->kept.turns;
    made.messages = parts.compressed->kept.messages;
  }
  Json originals = Json::array();
  for (std::size_t row = from; row < to; ++row) {
    ++made.turns;
    for (const std::size_t i : parts.turns[work.rows.turns[row]]) {
      const Json& message = parts.messages()[i];
      ++made.messages;
      work.source.said.push_back(said_in(message));
      originals.push_back({{"id", chat::message_id(parts, i)}, {"message", message}});
    }
  }
  made.hash = work.rows.names.hashes[to - 1];
  if (!work.rows.names.ends_with.empty()) made.ends_with = work.rows.names.ends_with[to - 1];
  made.at_ms = received.at_ms;  // time of its turns: a session deleted since stays deleted
  if (!parts.wishes.session.empty()) made.originals = base::json_text(originals);
  work.count = to;
}

// Looks for a known summary, and chooses the turns for a new one if that is not enough.
Work prepare(const Engine& engine, const Received& received, const chat::ChatRequest& parts,
             const models::ModelLocation& location, const Plan& plan) {
  Work work;
  work.history = history_of(engine, parts, plan);
  const History& history = work.history;
  work.rows = rows_of(parts, history, /*with_ends=*/!parts.wishes.session.empty());
  work.limit = conversation::summary_limit(history.room);
  if (work.rows.turns.empty()) return work;
  auto found = engine.summaries->find(received.owner(), parts.wishes.session, work.rows.names);
  std::size_t done = 0;
  Tokens taken = work.limit;
  if (found) {
    const auto model = engine.models.open(location, Deadline::after(std::chrono::seconds(1)));
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
    describe(received, parts, work, done, more, found ? &found->summary : nullptr);
  } else if (found) {
    work.known = true;
    work.count = done;
    work.summary = std::move(found->summary);
  } else {
    work.possible = false;
  }
  return work;
}

// What a model wrote, or why none did.
struct ByModel {
  std::string text{};  // empty: none wrote it
  std::string model{};
  std::string note{};
  Tokens used = 0, settled = 0;
  Cost cost{};
};

Awaitable<ByModel> ask_models(const Engine& engine, WorkerContext& worker, const Received& received,
                              const Request& about, const models::ModelLocation& location, const Plan& plan,
                              const Work& work, Deadline deadline) {
  const Tokens kept = plan.input + plan.requested_answer.value_or(0);
  const Deadline soon = sooner(deadline, Deadline::after(engine.rules.summary_timeout));
  const std::vector<models::ModelLocation> writers = summary_writers(engine, location);
  ByModel by;
  if (writers.empty()) by.note = fmt::format("no server has {} (summary_model)", engine.rules.summary_model);
  for (const models::ModelLocation& writer : writers) {
    if (soon.passed()) break;
    // A model that one owner names may not be there; a server that cannot be reached is so for everybody.
    const std::string server = fmt::format("{}", writer.member),
                      model = fmt::format("{}/{} {}", writer.member, writer.model, received.owner());
    const auto now = conversation::Summaries::Clock::now();
    if (engine.summaries->rests(server, now) || engine.summaries->rests(model, now)) {
      by.note = fmt::format("{} failed recently", writer.model);
      continue;
    }
    co_await find_window(engine, worker, writer, soon);
    Result<OwnRequest> request;
    std::function<void()> preparing = [&] {
      request = summary_request(engine, received, writer, work.source, work.limit, kept, soon);
    };
    co_await worker.elsewhere(std::move(preparing));
    if (co_await client_is_gone()) break;
    if (!request) {
      by.note = request.error().what;
      continue;
    }
    const std::string sent = request->upstream.body;
    auto written = co_await written_summary(worker, writer.member, *std::move(request), soon);
    if (written) {
      by.used += written->used;
      by.settled += written->settled;
      by.cost = cost_of(engine, writer, *written);
    }
    if (co_await client_is_gone()) break;  // not the server's fault
    if (!written) {
      engine.summaries->failed(written.error().code == Errc::unreachable ? server : model,
                               conversation::Summaries::Clock::now());
      const OwnWords own{about.chat.model, {received.ask.body, sent}};
      by.note = fmt::format("{}: {}", writer.model,
                            for_the_record(engine.rules.keep_prompts, own, written.error().what));
      continue;
    }
    engine.summaries->succeeded(model);
    by.text = std::move(written->text);
    by.model = writer.model;
    break;
  }
  co_return by;
}

// Completes the summary: shortens what a model wrote to the limit, or chooses sentences. Empty: none fits.
KeptSummary finished(const Work& work, const ByModel& by, const PlanModel& model) {
  KeptSummary made = work.summary;
  made.text = by.text;
  made.how = "model";
  made.model = by.model;
  if (!made.text.empty() && model.tokenizer.count(made.text) > work.limit)
    made.text = extracted({made.text, {}}, model, work.limit);
  if (made.text.empty()) {
    made.how = "extractive";
    made.model.clear();
    made.text = extracted(work.source, model, work.limit);
  }
  return made;
}

void keep(const Engine& engine, const Received& received, const std::string& session,
          const KeptSummary& made) {
  if (const auto kept = engine.summaries->keep(received.owner(), session, made); !kept)
    log::warning("cannot store a summary", {{"trace", received.trace_id}, {"why", kept.error().what}});
}

}  // namespace

bool can_compress(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                  const Plan& plan) {
  const auto most_turns = engine.rules.plan.max_history_turns;
  return engine.summaries != nullptr && attempt.compressions < most_compressions && !chat.turns.empty() &&
         chat.wishes.compress.value_or(engine.rules.compress_history) && plan.policy != Policy::strict &&
         (!most_turns || std::ssize(chat.turns) <= *most_turns);
}

bool compression_is_due(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                        const Plan& plan) {
  if (!can_compress(engine, chat, attempt, plan)) return false;
  const bool cuts = leaves_turns_out(plan);
  if (!plan.fallback.compression_due && !cuts) return false;
  const History history = history_of(engine, chat, plan);
  return (cuts || history.tokens > history.room) &&
         conversation::compress_before(history.turns, history.room,
                                       conversation::summary_limit(history.room)) > 0;
}

Awaitable<Prepared> compress(Engine& engine, WorkerContext& worker, const Received& received, Request request,
                             Attempt attempt, const Plan& plan, bool may_ask, Deadline deadline) {
  ++attempt.compressions;
  request.notes = {};
  Work work;
  std::function<void()> looking = [&] {
    work = prepare(engine, received, request.chat, attempt.location, plan);
  };
  co_await worker.elsewhere(std::move(looking));
  const bool asks = work.possible && !work.known && may_ask;
  if (asks && engine.tell_step) engine.tell_step("summarising older turns");
  ByModel by;
  if (asks)
    by = co_await ask_models(engine, worker, received, request, attempt.location, plan, work, deadline);
  request.notes.summary_used = by.used;
  request.notes.summary_settled = by.settled;
  request.notes.summary_cost = by.cost;
  const bool keeps = may_ask && !co_await client_is_gone();  // an interrupted model may write it later
  std::function<void()> finishing = [&] {
    const auto model = engine.models.open(attempt.location, deadline);
    if (!model) work.possible = false;
    if (work.possible && !work.known) {
      work.summary = finished(work, by, *model);
      work.possible = !work.summary.text.empty();
      if (work.possible && keeps) keep(engine, received, request.chat.wishes.session, work.summary);
    }
    if (!work.possible) return;
    Replacement with{work.summary, work.summary.text, work.known};
    if (make_harmless(*model, with.text) > 0)
      request.notes.warnings.emplace_back("special-token strings in a summary were escaped");
    replace_turns(request.chat, work.history, work.rows, work.count, with);
  };
  if (work.possible) co_await worker.elsewhere(std::move(finishing));
  if (work.possible && may_ask) ++engine.counters.compressions;
  if (!work.possible) {
    attempt.compressions = most_compressions;
  } else if (!work.known && work.summary.how == "extractive" && may_ask) {
    ++engine.counters.extracts;
    request.notes.warnings.push_back(
        fmt::format("the summary is extractive, not written by a model ({})", by.note));
  }
  Prepared prepared{std::move(request), std::move(attempt)};
  co_return prepared;
}

}  // namespace plimsoll::engine
