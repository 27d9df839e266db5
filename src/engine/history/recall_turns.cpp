#include "engine/history/recall_turns.hpp"

#include <algorithm>
#include <optional>

#include "base/json/json_member.hpp"
#include "base/text/text.hpp"
#include "conversation/recalled_turns.hpp"
#include "conversation/turn_vectors.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/history/compress.hpp"
#include "engine/history/summarise.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_recalls = 3;        // per request: what is brought back may push out further turns
constexpr Tokens share_of_window = 8;  // at most one in so many tokens

// Messages of the original request that the plan does not send.
std::size_t left_out(const chat::ChatRequest& chat, const Plan& plan) {
  std::size_t count = plan.summary && chat.compressed ? chat.compressed->replaced.size() : 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::history && piece.fate != Fate::kept && piece.message) ++count;
  return count;
}

Tokens recalled_in(const Plan& plan) {
  Tokens tokens = 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.is_recalled) tokens += piece.tokens;
  return tokens;
}

// Where history cannot be compressed further, what is brought back must not ask for a larger model.
Tokens budget_for(const Engine& engine, const Plan& plan, bool may_compress) {
  const Tokens most = std::min(engine.rules.recalled_tokens, plan.window.tokens / share_of_window);
  const Tokens threshold = plan.window.tokens * engine.rules.plan.compress_above_pct / 100;
  const Tokens wanted = plan.fallback.total - recalled_in(plan);
  if (may_compress || wanted > threshold) return most;
  return std::min(most, threshold - wanted);
}

// The turns that are not sent, with their texts.
struct OlderTurns {
  struct One {
    std::size_t number = 0;  // of the turn, from 1: a question and its answers have the same
    bool by_user = false;
    std::int64_t at_ms = 0;
    std::string text;
  };
  std::vector<One> said;
  conversation::TurnIndex index;  // views `said`
};

// When each message was said, by what the session has of it; 0: not known.
std::vector<std::int64_t> times_of(const Engine& engine, const std::string& owner,
                                   const chat::ChatRequest& original) {
  const Json& messages = original.messages();
  std::vector<std::int64_t> times(messages.size(), 0);
  const std::string& session = original.wishes.session;
  if (engine.sessions == nullptr || session.empty()) return times;
  const auto kept = engine.sessions->turns(owner, session);
  if (!kept) return times;
  std::size_t next = 0;  // both are in order, and the request may lack turns or have others
  for (std::size_t i = 0; i < messages.size() && next < kept->size(); ++i) {
    const auto content = messages[i].find("content");
    if (content == messages[i].end() || !content->is_string()) continue;
    const std::string& text = content->get_ref<const std::string&>();
    const std::string role = base::text_in(messages[i], "role");
    const auto found = std::find_if(kept->begin() + static_cast<std::ptrdiff_t>(next), kept->end(),
                                    [&](const Turn& turn) { return turn.role == role && turn.text == text; });
    if (found == kept->end()) continue;
    times[i] = found->at_ms;
    next = static_cast<std::size_t>(found - kept->begin()) + 1;
  }
  return times;
}

std::vector<OlderTurns::One> older_turns(const Engine& engine, const std::string& owner,
                                         const chat::ChatRequest& original, const Plan& plan) {
  const Json& messages = original.messages();
  std::vector<bool> sent(messages.size(), false);
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.message && *piece.message < sent.size() && piece.fate == Fate::kept)
      sent[*piece.message] = true;
  const std::vector<std::int64_t> times = times_of(engine, owner, original);
  std::vector<OlderTurns::One> out;
  std::size_t number = 0;
  for (std::size_t i = 0; i < std::min(messages.size(), original.asked_at); ++i) {
    const Json& role = messages[i]["role"];
    number += role == "user" ? 1 : 0;
    if (sent[i] || (role != "user" && role != "assistant")) continue;
    SummarySource::Said said = said_in(messages[i]);
    if (base::trim(said.text).empty()) continue;
    out.push_back({std::max<std::size_t>(1, number), said.by_user, times[i], std::move(said.text)});
  }
  return out;
}

// Turns that share words with the question first, then the newest.
std::vector<std::size_t> promising_first(const conversation::TurnIndex& index, std::string_view question) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(index.size(), false);
  for (const conversation::RankedTurn& one : index.rank_by_words(question)) {
    order.push_back(one.turn);
    taken[one.turn] = true;
  }
  for (std::size_t i = index.size(); i-- > 0;)
    if (!taken[i]) order.push_back(i);
  return order;
}

// The turns that answer the question, as they are sent.
struct FoundTurns {
  std::vector<render::EarlierTurn> turns{};
  Notes notes{};
};

FoundTurns look_for_turns(const Engine& engine, const Received& received, const chat::ChatRequest& chat,
                          const Attempt& attempt, const Plan& plan, Deadline deadline) {
  const auto begin = Deadline::Clock::now();
  FoundTurns found;
  const Tokens budget = budget_for(engine, plan, can_compress(engine, chat, attempt, plan));
  const auto original = chat::read_chat(received.ask.body);
  const auto model = engine.models.open(attempt.location, deadline);
  if (!original || !model) return found;
  const auto tokens = [&](const std::string& text) {
    return model->tokenizer.count(text, model->chat.specials);
  };
  OlderTurns turns;
  turns.said = older_turns(engine, received.owner(), *original, plan);
  for (const OlderTurns::One& one : turns.said) turns.index.add({one.by_user, one.text, one.at_ms, 0});
  const std::string& query = chat.query;
  conversation::TurnQuestion question{query, received.at_ms, {}, {}};
  conversation::TurnVectors::Meanings meanings;
  if (engine.turn_vectors != nullptr)
    meanings = engine.turn_vectors->find(received.owner(), chat.wishes.session, query, turns.index,
                                         promising_first(turns.index, query), received.at_ms, deadline);
  question.vector = std::move(meanings.question);
  question.meanings = meanings.turns;
  const auto sent_as = [&](std::size_t turn, std::string_view part) {
    const OlderTurns::One& one = turns.said[turn];
    const auto before = static_cast<std::size_t>(part.data() - one.text.data());
    return render::EarlierTurn{one.number,        one.by_user, one.at_ms,
                               std::string(part), before > 0,  before + part.size() < one.text.size()};
  };
  const auto chosen = conversation::choose_turns(turns.index, turns.index.rank(question),
                                                 budget - tokens(render::earlier_frame()),
                                                 [&](std::size_t turn, std::string_view part) {
                                                   return tokens(render::earlier_text(sent_as(turn, part)));
                                                 });
  std::size_t escaped = 0;
  for (const conversation::RecalledPart& one : chosen) {
    const std::string_view text = turns.said[one.turn].text;
    render::EarlierTurn earlier = sent_as(one.turn, text.substr(one.part.start, one.part.size()));
    escaped += make_harmless(*model, earlier.text);
    found.turns.push_back(std::move(earlier));
  }
  if (escaped > 0)
    found.notes.warnings.push_back(
        fmt::format("{} special-token strings in older turns were escaped", escaped));
  const bool is_first = attempt.recalls == 0;
  if (!meanings.note.empty() && is_first && !turns.said.empty())
    found.notes.warnings.push_back("older turns were searched by words alone: " + meanings.note);
  found.notes.retrieve_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  return found;
}

}  // namespace

bool recall_is_due(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                   const Plan& plan) {
  // Without a session nothing about a client's conversation is kept, so it has to ask for this.
  const bool usual = engine.rules.recall_turns && !chat.wishes.session.empty();
  if (!chat.wishes.recall.value_or(usual) || attempt.recalls >= most_recalls ||
      plan.policy == Policy::strict || !plan.fallback.to.empty() || base::trim(chat.query).empty())
    return false;
  return left_out(chat, plan) > attempt.recalled_from;
}

Awaitable<Prepared> recall_turns(const Engine& engine, WorkerContext& worker, const Received& received,
                                 Request request, Attempt attempt, const Plan& plan, Deadline deadline) {
  FoundTurns found;
  std::function<void()> work = [&] {
    found = look_for_turns(engine, received, request.chat, attempt, plan, deadline);
  };
  co_await worker.elsewhere(std::move(work));
  ++attempt.recalls;
  attempt.recalled_from = left_out(request.chat, plan);
  request.chat.additions.earlier = std::move(found.turns);
  request.notes = std::move(found.notes);
  Prepared prepared{std::move(request), std::move(attempt)};
  co_return prepared;
}

}  // namespace plimsoll::engine
