// Reads requests of the chat-with-documents API (C1 to C3). Complaints have the format of kaito_read.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gateway/kaito/kaito_read.hpp"
#include "plimsoll/sessions.hpp"
#include "plimsoll/strategy.hpp"

namespace plimsoll::gateway {

struct ChatBounds {
  std::int64_t usual_top_k = 10;  // if the request has none
  std::int64_t most_top_k = 300;
  std::size_t questions = 200;              // of one evaluation
  std::size_t message_bytes = 1'000'000;    // of a message, a query or a question
  std::size_t questions_bytes = 4'000'000;  // of all questions of an evaluation
  std::size_t history_turns = 10'000;       // of a chat_history
  std::size_t history_bytes = 4'000'000;
};

struct MessageAsk {
  std::string message;  // or query
  std::string collection, model, session;
  std::string system_prompt;
  std::vector<Turn> history;  // chat_history
  std::int64_t top_k = 10;
  bool names_top_k = false;  // the request has it
  bool stream = false;
  std::optional<Strategy> strategy;  // none: by rule
};
// `key`: name of the text field, "message" or "query".
MessageAsk read_message(const Json& object, const char* key, const ChatBounds& bounds,
                        Complaints& complaints);

struct EvaluationQuestions {
  std::vector<std::string> questions;
  std::string collection, model, user;
};
EvaluationQuestions read_questions(const Json& object, const ChatBounds& bounds, Complaints& complaints);

// Checks a name to store: 1 to 200 bytes of UTF-8 without control characters.
void check_name(const std::string& name, const Json& location, Complaints& complaints);

// Returns the body of a chat completion with documents of an index. A chat_history in the request replaces
// the session's.
std::string chat_body(const MessageAsk& ask, const std::string& index, std::span<const Turn> history);

// Returns 32 random hexadecimal digits.
std::string random_id();

}  // namespace plimsoll::gateway
