// A client's request as a value, whatever its API: divided into parts that a plan may or may not cut. A
// message is the JSON object that chat templates take (role, content, tool_calls); see docs/adr/0018.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "plimsoll/budget.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/passage.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/sessions.hpp"
#include "plimsoll/strategy.hpp"
#include "render/assemble.hpp"

namespace plimsoll::chat {

using Messages = std::vector<std::size_t>;  // indices, rising

// Options of a request for the gateway, in its field `plimsoll` and outside it.
struct RequestWishes {
  std::string index;  // index to search; empty: none
  bool explain = false;
  bool check = false;            // compare the answer with its passages
  std::optional<Tokens> budget;  // most tokens of passages
  std::optional<PassageOrder> order;
  std::optional<Strategy> strategy{};  // for the documents of an index; none: by rule
  std::optional<bool> fallback;
  std::vector<std::string> fallback_models;
  std::string session;
  std::optional<bool> compress{};  // compress history if due
  std::optional<bool> memory{};    // include memories
  std::optional<bool> recall{};    // bring back turns that do not fit and answer the question
};

// A summary that replaces the oldest turns, which are no longer in the body (F5).
struct Compressed {
  struct Message {
    std::size_t given_at = 0;  // in the original request
    Tokens tokens = 0;
  };
  render::Summary summary;
  std::vector<Message> replaced;
  PlannedSummary told;
  // For continuing it with a longer summary.
  KeptSummary kept;
  base::Sha256 state;             // of its hash
  std::vector<std::string> last;  // hashes of its single turns
};

// What is sent with a request besides its messages.
struct Additions {
  std::vector<render::Fact> facts{};
  std::vector<double> importance{};  // of each fact
  std::vector<render::Passage> passages{};
  std::vector<double> score{};  // of each passage
  std::string instruction{};    // how to use the passages; or empty
  // Turns that are not in the body any more, or do not fit, and answer the question.
  std::vector<render::EarlierTurn> earlier{};
  bool without_summary = false;  // not even the summary of older turns fits
};

struct ChatRequest {
  RequestKind kind = RequestKind::chat;  // others have a body, a model and `streams` alone
  std::string model;                     // as the client named it; empty: none
  bool streams = false;
  bool wants_usage = false;     // in a stream
  std::string_view text;        // the original request; must outlive its parts
  nlohmann::ordered_json body;  // an object with `messages`, from count::read_chat_request
  Messages system;              // never cut
  // Units of cutting, oldest first: a user message with all its answers. A tool call and its result are
  // never separated. After the last question, each answer with its tool results is one turn.
  std::vector<Messages> turns;
  Messages question;         // never cut: the last user message, and the last step after it
  std::size_t asked_at = 0;  // the message that passages are added to
  std::string query;         // the user's question as text
  Additions additions;       // the client's own, until memories and older turns are found
  std::optional<Tokens> max_tokens;
  Tokens thinking = 0;
  std::optional<double> context_ratio;
  std::optional<Policy> policy;
  RequestWishes wishes;
  std::optional<Compressed> compressed;
  std::vector<std::size_t> given_at;  // position of each message in the original request; empty: unchanged
  bool altered = false;               // the body differs from the original

  const nlohmann::ordered_json& messages() const { return body.at("messages"); }
  nlohmann::ordered_json& messages() { return body["messages"]; }
};

// Reads a chat in the form of OpenAI's API. `index`: from a model name MODEL+INDEX, used like index_name.
Result<ChatRequest> read_chat(std::string_view request, std::string_view index = {});

// Returns why documents are not searched for a request that names an index (K1); empty: they are.
std::string why_not_documents(const ChatRequest& request);

bool calls_tools(const ChatRequest& request);
bool has_parts_besides_text(const ChatRequest& request);  // such as images

// Returns the model named in a body; empty: none.
Result<std::string> model_named(const nlohmann::ordered_json& body);

// Returns the position of a message in the original request.
std::size_t place_of(const ChatRequest& request, std::size_t index);
// Returns "messages[3]", by that position.
std::string message_id(const ChatRequest& parts, std::size_t index);

// Returns the summary of older turns, if it is sent.
const render::Summary* summary_of(const ChatRequest& parts, const Additions& with);

}  // namespace plimsoll::chat
