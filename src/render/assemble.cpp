#include "render/assemble.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace plimsoll::render {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view facts_open = "What is known:\n";
constexpr std::string_view passages_open = "<passages>\n";
constexpr std::string_view passages_close = "</passages>\n\n";
constexpr std::string_view earlier_open = "<earlier>\nSaid earlier in this conversation:\n";
constexpr std::string_view earlier_close = "</earlier>\n\n";

bool is_system(const Json& message) {
  const Json& role = message["role"];
  return role == "system" || role == "developer";
}

// Adds text before or after the content of a message, whatever its type.
void add_text(Json& message, const std::string& text, bool in_front) {
  Json& content = message["content"];
  if (content.is_array()) {
    const Json part{{"type", "text"}, {"text", text}};
    content.insert(in_front ? content.begin() : content.end(), part);
  } else {
    const std::string said = content.is_string() ? content.get<std::string>() : "";
    content = in_front ? text + said : said + text;
  }
}

std::string heading_of(const std::string& provider) {
  return provider.empty() ? std::string(facts_open) : fmt::format("What {} remembers:\n", provider);
}

// Returns the providers in the order of their first fact.
std::vector<std::string> providers_of(std::span<const Fact> facts) {
  std::vector<std::string> out;
  for (const Fact& fact : facts)
    if (std::ranges::find(out, fact.provider) == out.end()) out.push_back(fact.provider);
  return out;
}

std::string facts_block(const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string block;
  for (const std::string& provider : providers_of(facts)) {
    block += heading_of(provider);
    for (const Fact& fact : facts)
      if (fact.provider == provider) block += fact_text(fact);
  }
  return block;
}

std::string instruction_paragraph(std::string_view instruction) {
  return instruction.empty() ? std::string() : fmt::format("{}\n\n", instruction);
}

std::string passages_block(const Assembly& assembly) {
  if (assembly.passages.empty()) return {};
  std::string block(passages_open);
  for (const Passage& passage : assembly.passages) block += passage_text(passage);
  block += passages_close;
  block += instruction_paragraph(assembly.instruction);
  return block;
}

std::string earlier_block(const std::vector<EarlierTurn>& turns) {
  if (turns.empty()) return {};
  std::string block(earlier_open);
  for (const EarlierTurn& turn : turns) block += earlier_text(turn);
  return block.append(earlier_close);
}

// Makes an id safe between quotes in the prompt. The arrows of a heading path stay: no tag can be closed or
// opened without a quote or "<".
std::string quoted(std::string id) {
  for (std::size_t i = 0; i < id.size(); ++i) {
    const char c = id[i];
    const bool arrow = c == '>' && i > 0 && id[i - 1] == ' ' && i + 1 < id.size() && id[i + 1] == ' ';
    if (c == '"' || c == '<' || (c == '>' && !arrow) || static_cast<unsigned char>(c) < 0x20) id[i] = '_';
  }
  return id;
}

}  // namespace

std::string_view instruction_for(Policy policy) {
  switch (policy) {
    case Policy::documents:
    case Policy::strict:
      return "Answer only from the passages above and cite them like [1]. If they do not contain the answer, "
             "say so.";
    case Policy::balanced:
    case Policy::history:
    case Policy::answer:
    case Policy::document_chat: break;
  }
  return "Use the passages above to answer and cite them like [1]. If they do not contain the answer, say "
         "so.";
}

std::string fact_text(const Fact& fact) {
  return fmt::format("- {}\n", fact.text);
}

std::string passage_text(const Passage& passage) {
  return fmt::format("<passage id=\"{}\">\n{}\n</passage>\n", quoted(passage.id), passage.text);
}

// A separate element, so that the model can distinguish it from the system prompt.
std::string summary_text(const Summary& summary) {
  return fmt::format("<summary>\nThe beginning of this conversation, {} messages, in short:\n{}\n</summary>",
                     summary.messages, summary.text);
}

std::string EarlierTurn::id() const {
  return fmt::format("turn:{}:{}", number, by_user ? "user" : "assistant");
}

std::string earlier_text(const EarlierTurn& turn) {
  std::string when;
  if (turn.at_ms > 0) {
    const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(turn.at_ms)};
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
    when = fmt::format(", {:04}-{:02}-{:02}", int(day.year()), unsigned(day.month()), unsigned(day.day()));
  }
  return fmt::format("[{}{}] {}: {}{}{}\n", turn.number, when, turn.by_user ? "user" : "assistant",
                     turn.cut_before ? "... " : "", turn.text, turn.cut_after ? " ..." : "");
}

std::size_t summary_place(const Json& messages, const Assembly& assembly) {
  std::size_t first_user = assembly.question;
  for (std::size_t i = messages.size(); i-- > 0;)
    if (assembly.keep[i] && messages[i]["role"] == "user") first_user = i;
  for (std::size_t i = 0; i < first_user; ++i)
    if (is_system(messages[i])) return i;
  return first_user;
}

std::string facts_frame(std::span<const Fact> facts) {
  std::string frame = "\n\n";
  for (const std::string& provider : providers_of(facts)) frame += heading_of(provider);
  return frame + "\n";
}

std::string passages_frame(std::string_view instruction) {
  return fmt::format("{}{}{}", passages_open, passages_close, instruction_paragraph(instruction));
}

std::string earlier_frame() {
  return fmt::format("{}{}", earlier_open, earlier_close);
}

Json assemble(const Json& body, const Assembly& assembly) {
  Json made = Json::object();
  for (const auto& [key, value] : body.items())
    if (key != "plimsoll") made[key] = key == "messages" ? Json() : value;  // keeps the order of keys
  Json messages = Json::array();
  const std::string facts = facts_block(assembly.facts);
  bool facts_wait = !facts.empty();
  const std::size_t summary_at =
      assembly.summary ? summary_place(body["messages"], assembly) : body["messages"].size();
  for (std::size_t i = 0; i < body["messages"].size(); ++i) {
    if (!assembly.keep[i]) continue;
    Json message = body["messages"][i];
    if (i == summary_at && is_system(message))
      add_text(message, "\n\n" + summary_text(*assembly.summary), false);
    if (facts_wait && is_system(message)) {
      add_text(message, "\n\n" + facts, false);
      facts_wait = false;
    }
    if (i == assembly.question) {
      const std::string front = facts_wait ? facts + "\n" : "";
      const std::string block = front + earlier_block(assembly.earlier) + passages_block(assembly);
      if (!block.empty()) add_text(message, block, true);
      facts_wait = false;
    }
    if (i == summary_at && !is_system(message))
      add_text(message, summary_text(*assembly.summary) + "\n\n", true);
    messages.push_back(std::move(message));
  }
  made["messages"] = std::move(messages);
  return made;
}

}  // namespace plimsoll::render
