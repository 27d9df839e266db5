#include "engine/history/older_turns.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view seed = "plimsoll summary 1";  // change it when the way of summarising changes

bool is_text_alone(const Json& message) {
  if (message["role"] != "user" && message["role"] != "assistant") return false;
  for (const char* key : {"tool_calls", "function_call", "audio"})
    if (message.contains(key) && !message[key].is_null()) return false;
  const auto content = message.find("content");
  if (content == message.end() || content->is_string() || content->is_null()) return true;
  return content->is_array() && std::ranges::all_of(*content, [](const Json& part) {
           return part.is_object() && part.contains("type") && part["type"] == "text";
         });
}

// Returns the tokens for passages besides history.
Tokens context_share(const chat::ChatRequest& parts, const Plan& plan) {
  const Tokens fair = budget::fair_context(plan.window.tokens);
  if (!parts.wishes.index.empty()) return fair;
  return std::min(fair, plan.sections[static_cast<std::size_t>(SectionKind::context)].section.basis);
}

// "messages[1-24]", "messages[27]"
std::vector<std::string> ranges_of(const std::vector<chat::Compressed::Message>& messages) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < messages.size();) {
    std::size_t end = i + 1;
    while (end < messages.size() && messages[end].given_at == messages[end - 1].given_at + 1) ++end;
    const std::size_t first = messages[i].given_at, last = messages[end - 1].given_at;
    ranges.push_back(first == last ? fmt::format("messages[{}]", first)
                                   : fmt::format("messages[{}-{}]", first, last));
    i = end;
  }
  return ranges;
}

// Returns the new positions of messages after the `gone` ones are removed.
chat::Messages moved(const chat::Messages& messages, const std::vector<std::size_t>& to) {
  chat::Messages out;
  for (const std::size_t i : messages) out.push_back(to[i]);
  return out;
}

// Hashes a message. The usual form avoids JSON serialisation: every request has its whole history.
void add_message(const Json& message, base::Sha256& hash) {
  const auto content = message.find("content");
  if (message.size() == 2 && content != message.end() && content->is_string()) {
    const std::string& text = content->get_ref<const std::string&>();
    hash.update(message["role"].get_ref<const std::string&>());
    hash.update(fmt::format(" {} ", text.size()));
    hash.update(text);
  } else {
    const std::string whole = base::json_text(message);
    hash.update(fmt::format("json {} ", whole.size()));
    hash.update(whole);
  }
}

}  // namespace

History history_of(const Engine& engine, const chat::ChatRequest& parts, const Plan& plan) {
  History history;
  history.messages.assign(parts.messages().size(), 0);
  auto piece = plan.pieces.begin();
  const auto next = [&]() -> Tokens {
    piece = std::find_if(piece, plan.pieces.end(), [](const PlannedPiece& one) {
      return one.section == SectionKind::history && one.message;
    });
    return piece == plan.pieces.end() ? 0 : (piece++)->tokens;
  };
  if (parts.compressed && !plan.summary)  // its turns come first
    for (std::size_t i = 0; i < parts.compressed->replaced.size(); ++i) next();
  for (const chat::Messages& turn : parts.turns) {
    conversation::TurnSize size;
    for (const std::size_t i : turn) {
      history.messages[i] = next();
      size.tokens += history.messages[i];
      size.whole = size.whole || i > parts.asked_at || !is_text_alone(parts.messages()[i]);
    }
    history.tokens += size.tokens;
    history.turns.push_back(size);
  }
  if (plan.summary) history.tokens += plan.summary->after;
  const Tokens threshold = plan.window.tokens * engine.rules.plan.compress_above_pct / 100;
  const Tokens others = plan.fallback.total - history.tokens + context_share(parts, plan);
  history.room = conversation::history_room(plan.window.tokens, threshold, others);
  return history;
}

Rows rows_of(const chat::ChatRequest& parts, const History& history, bool with_ends) {
  constexpr std::size_t told_by = 3;  // consecutive turns that identify a place in a conversation
  Rows rows;
  base::Sha256 state;
  state.update(seed);
  std::vector<std::string> alone;
  if (parts.compressed) {
    state = parts.compressed->state;
    alone = parts.compressed->last;
  }
  const std::size_t end =
      history.turns.size() - std::min(history.turns.size(), conversation::CompressionRule().last_turns);
  for (std::size_t turn = 0; turn < end; ++turn) {
    if (history.turns[turn].whole) continue;
    base::Sha256 said;
    for (const std::size_t i : parts.turns[turn]) {
      const Json& message = parts.messages()[i];
      add_message(message, state);
      if (with_ends) add_message(message, said);
    }
    rows.turns.push_back(turn);
    rows.names.hashes.push_back(state.hex());
    rows.states.push_back(state);
    if (!with_ends) continue;
    alone.push_back(said.hex());
    std::string ending;
    for (std::size_t i = alone.size() - std::min(alone.size(), told_by); i < alone.size(); ++i)
      ending += alone[i];
    rows.names.ends_with.push_back(base::sha256_hex(ending));
  }
  rows.last = std::move(alone);
  return rows;
}

void replace_turns(chat::ChatRequest& parts, const History& history, const Rows& rows, std::size_t count,
                   const Replacement& by) {
  chat::Compressed made = parts.compressed ? std::move(*parts.compressed) : chat::Compressed();
  Json& messages = parts.messages();
  std::vector<bool> gone(messages.size(), false);
  std::vector<bool> gone_turn(parts.turns.size(), false);
  for (std::size_t row = 0; row < count; ++row) {
    gone_turn[rows.turns[row]] = true;
    for (const std::size_t i : parts.turns[rows.turns[row]]) {
      gone[i] = true;
      made.replaced.push_back({parts.given_at.empty() ? i : parts.given_at[i], history.messages[i]});
    }
  }
  std::ranges::sort(made.replaced, {}, &chat::Compressed::Message::given_at);
  Json left = Json::array();
  std::vector<std::size_t> to(messages.size()), given_at;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (gone[i]) continue;
    to[i] = left.size();
    given_at.push_back(parts.given_at.empty() ? i : parts.given_at[i]);
    left.push_back(std::move(messages[i]));
  }
  messages = std::move(left);
  parts.given_at = std::move(given_at);
  std::vector<chat::Messages> turns;
  for (std::size_t turn = 0; turn < parts.turns.size(); ++turn)
    if (!gone_turn[turn]) turns.push_back(moved(parts.turns[turn], to));
  parts.turns = std::move(turns);
  parts.system = moved(parts.system, to);
  parts.question = moved(parts.question, to);
  parts.asked_at = to[parts.asked_at];

  made.summary = {by.text, static_cast<std::size_t>(by.kept.messages)};
  PlannedSummary& told = made.told;
  told.id = by.kept.hash.substr(0, 16);
  told.how = by.kept.how;
  told.known = by.known;
  told.model = by.kept.model;
  told.turns += static_cast<std::int64_t>(count);
  told.messages = std::ssize(made.replaced);
  told.replaces = ranges_of(made.replaced);
  told.before = 0;
  for (const chat::Compressed::Message& one : made.replaced) told.before += one.tokens;
  made.kept = by.kept;
  made.kept.originals.clear();
  made.state = rows.states[count - 1];
  made.last = rows.last;
  if (!made.last.empty()) made.last.resize(rows.last.size() - (rows.turns.size() - count));
  parts.compressed = std::move(made);
  parts.altered = true;
}

}  // namespace plimsoll::engine
