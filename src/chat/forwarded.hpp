// Requests that are not chats: completions, responses and embeddings. They are forwarded unchanged, except
// that an input that does not fit is refused, and an answer limit that is too large is lowered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chat/chat_request.hpp"

namespace plimsoll::chat {

// Its parts stay empty.
Result<ChatRequest> read_forwarded(RequestKind kind, std::string_view request);

// Embeddings have no answer, and their input is not counted.
bool is_counted(const ChatRequest& request);

struct ForwardedCount {
  Tokens input = 0;  // of several prompts, the longest
  Exactness exactness = Exactness::exact;
  std::string why;
};
Result<ForwardedCount> count_forwarded(const ChatRequest& request, const PlanModel& model);

struct AnswerLimit {
  std::string_view field;        // that has it
  std::optional<Tokens> wanted;  // most_tokens: no limit; none: not in the request
  bool is_unlimited = false;     // the client asked for no limit
};
Result<AnswerLimit> answer_limit(const ChatRequest& request);

// Returns what the server takes if the request names no limit: 16 for OpenAI's completions, all the room for
// a response.
Tokens limit_by_default(RequestKind kind, Tokens room);

}  // namespace plimsoll::chat
