#include "eval/turns.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

#include <nlohmann/json.hpp>

#include "base/json/parse_json.hpp"
#include "base/try.hpp"

namespace plimsoll::eval {
namespace {

using TurnsJson = nlohmann::ordered_json;

// "2023/04/10 (Mon) 23:07"
Result<std::int64_t> read_time(const std::string& text, std::size_t question) {
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = -1;
    if (at + size <= text.size()) std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  const std::size_t colon = text.rfind(':');
  const int hour = colon == std::string::npos || colon < 2 ? -1 : number(colon - 2, 2);
  const int minute = colon == std::string::npos ? -1 : number(colon + 1, 2);
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || hour < 0 || minute < 0)
    return fail(Errc::bad_input, "question {}: '{}' is not a date like 2023/04/10 (Mon) 23:07", question,
                text);
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60'000;
}

struct Session {
  std::string id;
  std::int64_t at_ms = 0;
  const TurnsJson* turns = nullptr;
  std::size_t first = 0;  // its first pooled turn
};

std::string text_at(const TurnsJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_list(const TurnsJson& object, const char* key) {
  return object.contains(key) && object[key].is_array();
}

Result<void> add_sessions(const TurnsJson& one, std::size_t question,
                          std::map<std::string, Session>& sessions) {
  for (const char* key : {"haystack_sessions", "haystack_session_ids", "haystack_dates"})
    if (!is_list(one, key) || one[key].size() != one["haystack_sessions"].size())
      return fail(Errc::bad_input, "question {}: '{}' must be a list with an entry for each session",
                  question, key);
  for (std::size_t i = 0; i < one["haystack_sessions"].size(); ++i) {
    const TurnsJson &id = one["haystack_session_ids"][i], &date = one["haystack_dates"][i];
    if (!id.is_string() || !date.is_string() || !one["haystack_sessions"][i].is_array())
      return fail(Errc::bad_input, "question {}: session {} needs an id, a date and a list of turns",
                  question, i);
    TRY(const std::int64_t at_ms, read_time(date.get<std::string>(), question));
    sessions.try_emplace(id.get<std::string>(),
                         Session{id.get<std::string>(), at_ms, &one["haystack_sessions"][i], 0});
  }
  return {};
}

void pool(std::map<std::string, Session>& sessions, TurnsData& data) {
  std::vector<Session*> order;
  for (auto& [id, session] : sessions) order.push_back(&session);
  std::ranges::stable_sort(order, {}, &Session::at_ms);
  std::size_t number = 0;
  for (Session* session : order) {
    session->first = data.turns.size();
    for (const TurnsJson& turn : *session->turns) {
      PooledTurn pooled{text_at(turn, "content"), text_at(turn, "role") == "user", session->at_ms,
                        static_cast<std::uint32_t>(data.sessions), 0};
      number += pooled.by_user ? 1 : 0;
      pooled.number = std::max<std::size_t>(1, number);
      data.turns.push_back(std::move(pooled));
    }
    ++data.sessions;
  }
}

constexpr Tokens enough = 80;

bool counts(const conversation::RecalledPart& part, const PooledTurn& turn,
            const std::function<Tokens(std::string_view)>& count) {
  if (part.is_whole) return true;
  const Tokens inside = count(std::string_view(turn.text).substr(part.part.start, part.part.size()));
  return inside >= enough || 2 * inside >= count(turn.text);
}

}  // namespace

Result<TurnsData> read_turns_data(std::string_view json) {
  const TurnsJson list = base::parse_json(json);
  if (!list.is_array())
    return fail(Errc::bad_input, "expected a JSON list of questions, as LongMemEval has them");
  TurnsData data;
  std::map<std::string, Session> sessions;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) return fail(Errc::bad_input, "question {} is not a JSON object", i);
    TRY_VOID(add_sessions(list[i], i, sessions));
  }
  pool(sessions, data);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const TurnsJson& one = list[i];
    TurnsQuestion question{text_at(one, "question"), text_at(one, "question_type"), 0, {}};
    TRY(question.at_ms, read_time(text_at(one, "question_date"), i));
    for (std::size_t k = 0; k < one["haystack_sessions"].size(); ++k) {
      const Session& session = sessions.at(one["haystack_session_ids"][k].get<std::string>());
      const TurnsJson& turns = one["haystack_sessions"][k];
      for (std::size_t turn = 0; turn < std::min(turns.size(), session.turns->size()); ++turn)
        if (turns[turn].is_object() && turns[turn].value("has_answer", TurnsJson()) == true)
          question.evidence.push_back(session.first + turn);
    }
    if (!question.evidence.empty()) data.questions.push_back(std::move(question));
  }
  return data;
}

conversation::TurnIndex index_of(const TurnsData& data) {
  conversation::TurnIndex index;
  for (const PooledTurn& turn : data.turns) index.add({turn.by_user, turn.text, turn.at_ms, turn.session});
  return index;
}

Result<TurnsReport> evaluate_turns(const TurnsData& data, std::span<const std::size_t> places,
                                   std::span<const Tokens> budgets,
                                   const std::function<Tokens(std::string_view)>& count,
                                   const FindTurns& find) {
  TurnsReport report;
  report.questions = places.size();
  report.turns = data.turns.size();
  report.sessions = data.sessions;
  const auto begin = std::chrono::steady_clock::now();
  for (const Tokens budget : budgets) {
    TurnsScore score;
    score.budget = budget;
    std::size_t wanted = 0, inside = 0, complete = 0;
    for (const std::size_t place : places) {
      const TurnsQuestion& question = data.questions[place];
      TRY(const auto found, find(question, place, budget));
      std::size_t got = 0;
      for (const conversation::RecalledPart& part : found) {
        score.tokens_used += static_cast<double>(part.tokens);
        if (std::ranges::find(question.evidence, part.turn) != question.evidence.end() &&
            counts(part, data.turns[part.turn], count))
          ++got;
      }
      wanted += question.evidence.size();
      inside += got;
      const bool all = got == question.evidence.size();
      complete += all ? 1 : 0;
      auto kind = std::ranges::find(score.kinds, question.kind, &TurnsScore::Kind::name);
      if (kind == score.kinds.end()) kind = score.kinds.insert(kind, {question.kind, 0, 0});
      ++kind->questions;
      kind->all_evidence += all ? 1 : 0;
    }
    const auto asked = static_cast<double>(std::max<std::size_t>(1, places.size()));
    score.all_evidence = static_cast<double>(complete) / asked;
    score.recall = wanted == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(wanted);
    score.tokens_used /= asked;
    for (TurnsScore::Kind& kind : score.kinds) kind.all_evidence /= static_cast<double>(kind.questions);
    report.budgets.push_back(std::move(score));
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const std::size_t asked = places.size() * budgets.size();
  report.ms_per_question = asked == 0 ? 0 : took.count() / static_cast<double>(asked);
  return report;
}

}  // namespace plimsoll::eval
