#include "engine/evidence/harmless.hpp"

#include <algorithm>

#include "count/chat/defuse.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// The services of OpenAI and Anthropic treat all text as text. Any other server may parse special tokens in
// it, also one that serves a model of its own under the name of one of theirs.
bool may_read_structure(const PlanModel& model) {
  const ChatOptions& chat = model.chat;
  const bool closed = chat.chat_template.starts_with("openai") || chat.chat_template == "anthropic";
  return !closed || model.any_server || chat.specials == Specials::parsed;
}

std::size_t defuse_text(const PlanModel& model, std::string& text) {
  if (!may_read_structure(model)) return 0;
  count::Defused defused = count::defuse(model.tokenizer, text);
  if (defused.found > 0) text = std::move(defused.text);
  return defused.found;
}

bool is_result(const Json& message) {
  return message["role"] == "tool" || message["role"] == "function";
}

std::size_t defuse_text(const PlanModel& model, Json& text) {
  return text.is_string() ? defuse_text(model, text.get_ref<std::string&>()) : 0;
}

// `content`: a text or a list of parts.
std::size_t defuse_content(const PlanModel& model, Json& content) {
  if (!content.is_array()) return defuse_text(model, content);
  std::size_t found = 0;
  std::string joined;
  for (Json& part : content) {
    const auto text = part.find("text");
    if (text == part.end()) continue;
    found += defuse_text(model, *text);
    if (text->is_string()) joined += text->get_ref<const std::string&>();
  }
  // Some templates join parts directly, so a token spelled across two parts is split by a space.
  if (defuse_text(model, joined) == 0) return found;
  bool is_first = true;
  for (Json& part : content) {
    const auto text = part.find("text");
    if (text == part.end() || !text->is_string()) continue;
    if (!is_first) text->get_ref<std::string&>().insert(0, " ");
    is_first = false;
  }
  return found + 1;
}

// Handles all texts and names in a value.
std::size_t defuse_all(const PlanModel& model, Json& value) {
  if (value.is_string()) return defuse_text(model, value);
  std::size_t found = 0;
  if (value.is_array())
    for (Json& one : value) found += defuse_all(model, one);
  if (!value.is_object()) return found;
  Json renamed = Json::object();
  for (auto& [name, one] : value.get_ref<Json::object_t&>()) {
    std::string harmless = name;
    found += defuse_text(model, harmless) + defuse_all(model, one);
    renamed[harmless] = std::move(one);
  }
  value = std::move(renamed);
  return found;
}

// Calls `use` with the documents that some servers render into the prompt themselves. `body`: a Json.
template <typename Object>
void for_documents(Object& body, const auto& use) {
  const auto in = [&](auto& object) {
    const auto documents = object.find("documents");
    if (documents != object.end()) use(*documents);
  };
  in(body);
  const auto settings = body.find("chat_template_kwargs");
  if (settings != body.end() && settings->is_object()) in(*settings);
}

bool has_documents(const Json& body) {
  bool found = false;
  for_documents(body, [&](const Json&) { found = true; });
  return found;
}

}  // namespace

std::size_t make_harmless(const PlanModel& model, std::string& text) {
  std::size_t found = defuse_text(model, text);
  for (const char* mark : {"passage", "summary", "conversation", "earlier"}) {
    std::string apart;  // a copy: inserting into the text would be quadratic for many marks
    std::size_t from = 0;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const bool closes = at >= 2 && text.compare(at - 2, 2, "</") == 0;
      const bool opens = at >= 1 && text[at - 1] == '<';
      if (!closes && !opens) continue;
      const std::size_t to = closes ? at - 1 : at;
      apart.append(text, from, to - from) += ' ';
      from = to;
      ++found;
    }
    if (from > 0) text = apart.append(text, from);
  }
  return found;
}

bool holds_data(const chat::ChatRequest& parts) {
  return !parts.additions.passages.empty() || !parts.additions.facts.empty() || has_documents(parts.body) ||
         std::ranges::any_of(parts.messages(), is_result);
}

Request escape_data(const PlanModel& model, Request request) {
  chat::ChatRequest& chat = request.chat;
  std::size_t found = 0;
  for (Json& message : chat.messages()) {
    if (!is_result(message)) continue;
    const auto content = message.find("content");
    if (content != message.end()) found += defuse_content(model, *content);
    if (const auto name = message.find("name"); name != message.end()) found += defuse_text(model, *name);
  }
  for_documents(chat.body, [&](Json& documents) { found += defuse_all(model, documents); });
  chat.altered = chat.altered || found > 0;
  for (render::Passage& passage : chat.additions.passages)
    found += make_harmless(model, passage.id) + make_harmless(model, passage.text);
  for (render::Fact& fact : chat.additions.facts) found += make_harmless(model, fact.text);
  if (found > 0)
    request.notes.warnings.push_back(
        fmt::format("{} special-token strings in tool results, passages or memories were escaped", found));
  return request;
}

}  // namespace plimsoll::engine
