#include "gateway/chat/chat_read.hpp"

#include <algorithm>
#include <random>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

// Null counts as missing.
std::string optional_text(const Json& object, const char* key, Complaints& complaints) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : read_text(object, key, complaints);
}

void check_text(const std::string& text, const Json& location, std::size_t longest, Complaints& complaints) {
  if (base::trim(text).empty())
    complaints.add("string_too_short", location, "String should have at least 1 character", text,
                   {{"min_length", 1}});
  else if (text.size() > longest)
    complaints.add("string_too_long", location, fmt::format("String should have at most {} bytes", longest),
                   nullptr, {{"max_length", longest}});
}

// An index's name or number.
std::string read_collection(const Json& object, Complaints& complaints) {
  const auto given = object.find("collection_id");
  if (given != object.end() && given->is_number_integer()) return given->dump();
  std::string name = read_text(object, "collection_id", complaints);
  if (given != object.end() && given->is_string()) check_name(name, {"body", "collection_id"}, complaints);
  return name;
}

std::string read_model(const Json& object, const char* key, Complaints& complaints) {
  std::string model = optional_text(object, key, complaints);
  if (!model.empty()) check_name(model, {"body", key}, complaints);
  return model;
}

std::int64_t read_top_k(const Json& object, const ChatBounds& bounds, Complaints& complaints) {
  const auto given = object.find("top_k");
  if (given == object.end() || given->is_null()) return bounds.usual_top_k;
  const Json location{"body", "top_k"};
  if (!given->is_number_integer()) {
    complaints.add("int_type", location, "Input should be a valid integer", *given);
    return bounds.usual_top_k;
  }
  const double value = given->get<double>();  // an unsigned value may not fit a signed one
  if (value < 1)
    complaints.add("greater_than_equal", location, "Input should be greater than or equal to 1", *given,
                   {{"ge", 1}});
  else if (value > static_cast<double>(bounds.most_top_k))
    complaints.add("less_than_equal", location,
                   fmt::format("Input should be less than or equal to {}", bounds.most_top_k), *given,
                   {{"le", bounds.most_top_k}});
  else
    return given->get<std::int64_t>();
  return bounds.usual_top_k;
}

// [{"role": "user" or "assistant", "content": text}, ...]
std::vector<Turn> read_history(const Json& object, const ChatBounds& bounds, Complaints& complaints) {
  std::vector<Turn> history;
  const auto given = object.find("chat_history");
  if (given == object.end() || given->is_null()) return history;
  const Json location{"body", "chat_history"};
  if (!given->is_array()) {
    complaints.add("list_type", location, "Input should be a valid list of {role, content}", *given);
    return history;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& one = (*given)[i];
    const bool whole = one.is_object() && one.contains("role") && one.contains("content") &&
                       (one["role"] == "user" || one["role"] == "assistant") && one["content"].is_string();
    if (!whole) {
      complaints.add("value_error", {"body", "chat_history", i},
                     "Input should have a role, user or assistant, and a text as content", one);
      return history;
    }
    history.push_back({one["role"], one["content"], 0, {}, {}, {}});
    bytes += history.back().text.size();
  }
  if (history.size() > bounds.history_turns || bytes > bounds.history_bytes)
    complaints.add("too_long", location,
                   fmt::format("List should have at most {} items of {} bytes in all", bounds.history_turns,
                               bounds.history_bytes),
                   nullptr, {{"max_length", bounds.history_turns}});
  return history;
}

bool read_flag(const Json& object, const char* key, Complaints& complaints) {
  const auto given = object.find(key);
  if (given == object.end() || given->is_null()) return false;
  if (given->is_boolean()) return given->get<bool>();
  complaints.add("bool_type", {"body", key}, "Input should be a valid boolean", *given);
  return false;
}

// {"strategy": "STUFF", "HYBRID", "RAG" or "RAG+GRAPH"}
std::optional<Strategy> read_strategy(const Json& object, Complaints& complaints) {
  const auto ours = object.find("plimsoll");
  if (ours == object.end() || ours->is_null()) return std::nullopt;
  if (!ours->is_object()) {
    complaints.add("dict_type", {"body", "plimsoll"}, "Input should be a valid dictionary", *ours);
    return std::nullopt;
  }
  const auto given = ours->find("strategy");
  if (given == ours->end() || given->is_null()) return std::nullopt;
  const auto strategy =
      given->is_string() ? strategy_named(given->get_ref<const std::string&>()) : std::nullopt;
  if (!strategy)
    complaints.add("enum", {"body", "plimsoll", "strategy"},
                   "Input should be 'STUFF', 'HYBRID', 'RAG' or 'RAG+GRAPH'", *given);
  return strategy;
}

}  // namespace

void check_name(const std::string& name, const Json& location, Complaints& complaints) {
  constexpr std::size_t longest = 200;
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (name.empty() || name.size() > longest)
    check_text(name, location, longest, complaints);
  else if (control || !base::is_valid_utf8(name))
    complaints.add("value_error", location, "A name has no control characters, and is UTF-8", nullptr);
}

MessageAsk read_message(const Json& object, const char* key, const ChatBounds& bounds,
                        Complaints& complaints) {
  MessageAsk ask;
  ask.message = read_text(object, key, complaints);
  if (const auto given = object.find(key); given != object.end() && given->is_string())
    check_text(ask.message, {"body", key}, bounds.message_bytes, complaints);
  ask.collection = read_collection(object, complaints);
  ask.model = read_model(object, "model_name", complaints);
  ask.session = optional_text(object, "session_id", complaints);
  if (!ask.session.empty()) check_name(ask.session, {"body", "session_id"}, complaints);
  ask.system_prompt = optional_text(object, "system_prompt", complaints);
  if (!ask.system_prompt.empty())
    check_text(ask.system_prompt, {"body", "system_prompt"}, bounds.message_bytes, complaints);
  ask.history = read_history(object, bounds, complaints);
  ask.top_k = read_top_k(object, bounds, complaints);
  ask.names_top_k = object.contains("top_k") && !object["top_k"].is_null();
  ask.stream = read_flag(object, "stream", complaints);
  ask.strategy = read_strategy(object, complaints);
  return ask;
}

EvaluationQuestions read_questions(const Json& object, const ChatBounds& bounds, Complaints& complaints) {
  EvaluationQuestions read;
  read.collection = read_collection(object, complaints);
  read.model = read_model(object, "llm_model", complaints);
  read.user = optional_text(object, "user_id", complaints);
  if (!read.user.empty()) check_name(read.user, {"body", "user_id"}, complaints);
  read.questions = read_texts(object, "questions", complaints);
  if (complaints.any()) return read;
  const Json location{"body", "questions"};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < read.questions.size(); ++i) {
    check_text(read.questions[i], {"body", "questions", i}, bounds.message_bytes, complaints);
    bytes += read.questions[i].size();
  }
  if (read.questions.empty())
    complaints.add("too_short", location, "List should have at least 1 item", Json::array(),
                   {{"min_length", 1}});
  else if (read.questions.size() > bounds.questions || bytes > bounds.questions_bytes)
    complaints.add("too_long", location,
                   fmt::format("List should have at most {} items of {} bytes in all", bounds.questions,
                               bounds.questions_bytes),
                   nullptr, {{"max_length", bounds.questions}});
  return read;
}

std::string chat_body(const MessageAsk& ask, const std::string& index, std::span<const Turn> history) {
  Json messages = Json::array();
  if (!ask.system_prompt.empty()) messages.push_back({{"role", "system"}, {"content", ask.system_prompt}});
  if (!ask.history.empty()) history = ask.history;
  for (const Turn& turn : history) messages.push_back({{"role", turn.role}, {"content", turn.text}});
  messages.push_back({{"role", "user"}, {"content", ask.message}});
  Json body{{"messages", std::move(messages)}, {"index_name", index}, {"stream", ask.stream}};
  if (ask.stream) body["stream_options"] = {{"include_usage", true}};
  if (!ask.model.empty()) body["model"] = ask.model;
  if (!ask.session.empty()) body["plimsoll"]["session"] = ask.session;
  if (ask.strategy) body["plimsoll"]["strategy"] = name_of(*ask.strategy);
  return base::json_text(body);
}

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

}  // namespace plimsoll::gateway
