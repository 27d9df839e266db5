// Writes requests in the form that upstreams take, OpenAI's.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "chat/chat_request.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::chat {

// The field that limits the answer.
const char* limit_field(RequestKind kind);

// Returns whether the request has no fields for the gateway and names this model.
bool is_plain(const ChatRequest& request, std::string_view model);

// Returns the body with the plan's model and limits, without fields for the gateway.
std::string bound_body(nlohmann::ordered_json body, const Plan& plan);

// Returns the body with another model, or with another limit of the answer.
std::string with_model(nlohmann::ordered_json body, std::string_view model);
std::string with_limit(nlohmann::ordered_json body, RequestKind kind, Tokens limit);

// Returns whether the server may be asked to report the usage of a stream, which the client did not ask for.
bool may_ask_for_usage(const ChatRequest& request);
// Asks for it. The rest of the text stays as it is.
void ask_for_usage(std::string& body);

// Returns how many answers a request wants (`n`, or several prompts).
Tokens answers_wanted(const ChatRequest& request);
// Returns whether the server reads more than what is counted as input: of several prompts the longest is, and
// of a conversation that the server keeps nothing.
bool has_uncounted_input(const ChatRequest& request);

// Returns a request with one message, answered as likely as possible.
nlohmann::ordered_json one_question(std::string_view model, std::string_view prompt, Tokens max_tokens);

}  // namespace plimsoll::chat
