#include "engine/compress.hpp"

#include <algorithm>

#include "base/json_text.hpp"
#include "base/log.hpp"
#include "engine/harmless.hpp"
#include "engine/older_turns.hpp"
#include "engine/summarise.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_compressions = 2;  // of one request: its window may turn out to be smaller than it seemed

bool leaves_turns_out(const Plan& plan) {
  return std::ranges::any_of(plan.pieces, [](const PlannedPiece& piece) {
    return piece.section == SectionKind::history && piece.fate != Fate::kept;
  });
}

struct Work {
  bool possible = false;
  History history;
  Rows rows;
  std::size_t count = 0;  // of the rows' turns, that the summary stands for
  KeptSummary summary;    // what is known, or is to be written
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

// The turns from `from` to `to` of the rows, with the summary that they follow.
void describe(const Course& course, Work& work, std::size_t from, std::size_t to, const KeptSummary* known) {
  const RequestParts& parts = course.parts;
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
  made.at_ms = course.trace.at_ms;  // when its turns were there: what was forgotten since stays so
  if (!course.trace.session.empty()) made.originals = base::json_text(originals);
  work.count = to;
}

// Looks for a summary that is known, and settles which turns go into a new one where that is not enough.
Work prepare(Engine& engine, const Course& course) {
  Work work;
  work.history = history_of(engine, course);
  const History& history = work.history;
  work.rows = rows_of(course.parts, history, /*with_ends=*/!course.trace.session.empty());
  work.limit = memory::summary_limit(history.room);
  if (work.rows.turns.empty()) return work;
  auto found = engine.summaries->find(course.trace.owner, course.trace.session, work.rows.names);
  std::size_t done = 0;
  Tokens taken = work.limit;
  if (found) {
    const auto model = engine.models.open(course.berth, Deadline::after(std::chrono::seconds(1)));
    const Tokens tokens = model ? model->tokenizer.count(found->summary.text) : history.room;
    if (tokens > work.limit + work.limit / 4) {
      found.reset();  // it was made for a larger window
    } else {
      done = found->row + 1;
      taken = tokens;
    }
  }
  const Tokens stays = history.tokens - tokens_of(history, work.rows, done);
  std::size_t more = 0;  // turns of the rows that a new summary would stand for
  if (!found || stays + taken > history.room) {
    std::vector<memory::TurnSize> sizes = history.turns;
    for (std::size_t i = 0; i < done; ++i) sizes[work.rows.turns[i]].tokens = 0;
    const std::size_t before = memory::compress_before(sizes, history.room, work.limit);
    while (more < work.rows.turns.size() && work.rows.turns[more] < before) ++more;
  }
  work.possible = more > 0 || found;
  if (more > done) {
    describe(course, work, done, more, found ? &found->summary : nullptr);
  } else if (found) {
    work.known = true;
    work.count = done;
    work.summary = std::move(found->summary);
  } else {
    work.possible = false;
  }
  return work;
}

Awaitable<void> ask_models(Engine& engine, Crew& crew, Course& course, Work& work, Deadline deadline) {
  const Deadline soon = sooner(deadline, Deadline::after(engine.rules.summary_timeout));
  const std::vector<Berth> writers = summary_writers(engine, course);
  if (writers.empty())
    work.note = fmt::format("nobody serves {} (summary_model)", engine.rules.summary_model);
  for (const Berth& writer : writers) {
    if (soon.passed()) break;
    if (engine.summaries->rests(writer.member, Summaries::Clock::now())) {
      work.note = fmt::format("{} did not manage to lately", writer.model);
      continue;
    }
    Result<UpstreamRequest> request;
    std::function<void()> preparing = [&] {
      request = summary_request(engine, writer, work.source, work.limit, soon);
    };
    co_await crew.elsewhere(std::move(preparing));
    if (!request) {
      work.note = request.error().what;
      continue;
    }
    request->owner = course.trace.owner;
    const std::string sent = request->body;
    auto written = co_await written_summary(crew, writer.member, *std::move(request), soon);
    if (co_await client_is_gone()) break;  // which is not the server's fault
    if (!written) {
      engine.summaries->failed(writer.member, Summaries::Clock::now());
      work.note =
          fmt::format("{}: {}", writer.model, for_the_record(engine, course, written.error().what, sent));
      continue;
    }
    engine.summaries->succeeded(writer.member);
    course.summary_used += written->used;
    work.summary.text = std::move(written->text);
    work.summary.how = "model";
    work.summary.model = writer.model;
    break;
  }
}

// Holds what was written to its limit, or extracts what nobody wrote; keeps it.
void finish(Engine& engine, Course& course, Work& work, const PlanModel& model, bool keeps) {
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
  if (const auto kept = engine.summaries->keep(course.trace.owner, course.trace.session, made); !kept)
    log::warning("a summary could not be kept", {{"trace", course.trace.id}, {"why", kept.error().what}});
}

}  // namespace

bool compression_is_due(const Engine& engine, const Course& course) {
  const RequestParts& parts = course.parts;
  const Plan& plan = course.plan;
  const auto most_turns = engine.rules.plan.max_history_turns;
  if (engine.summaries == nullptr || course.compressions >= most_compressions || parts.turns.empty() ||
      !parts.wishes.compress.value_or(engine.rules.compress_history) || plan.policy == Policy::strict ||
      (most_turns && std::ssize(parts.turns) > *most_turns))
    return false;
  const bool cuts = leaves_turns_out(plan);
  if (!plan.fallback.compression_due && !cuts) return false;
  const History history = history_of(engine, course);
  return (cuts || history.tokens > history.room) &&
         memory::compress_before(history.turns, history.room, memory::summary_limit(history.room)) > 0;
}

Awaitable<void> compress(Engine& engine, Crew& crew, Course& course, bool may_ask, Deadline deadline) {
  ++course.compressions;
  Work work;
  std::function<void()> looking = [&] { work = prepare(engine, course); };
  co_await crew.elsewhere(std::move(looking));
  const bool asks = work.possible && !work.known && may_ask;
  if (asks && engine.tell_step) engine.tell_step("summarising older turns");
  if (asks) co_await ask_models(engine, crew, course, work, deadline);
  const bool keeps =
      may_ask && !co_await client_is_gone();  // a model that was interrupted may write it later
  std::function<void()> finishing = [&] {
    const auto model = engine.models.open(course.berth, deadline);
    if (!model) work.possible = false;
    if (work.possible && !work.known) finish(engine, course, work, *model, keeps);
    if (!work.possible) return;
    Replacement by{work.summary, work.summary.text, work.known};
    if (make_harmless(*model, by.text) > 0)
      course.trace.warnings.emplace_back("spellings of special tokens in a summary were made harmless");
    replace_turns(course.parts, work.history, work.rows, work.count, by);
  };
  if (work.possible) co_await crew.elsewhere(std::move(finishing));
  if (work.possible && may_ask) ++engine.counters.compressions;
  if (!work.possible) {
    course.compressions = most_compressions;
  } else if (!work.known && work.summary.how == "extractive" && may_ask) {
    ++engine.counters.extracts;
    course.trace.warnings.push_back(
        fmt::format("no model wrote the summary ({}): it is extractive", work.note));
  }
}

}  // namespace plimsoll::engine
