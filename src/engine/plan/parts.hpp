// A request divided into parts that a plan may or may not cut.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "plimsoll/budget.hpp"
#include "plimsoll/passage.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/sessions.hpp"
#include "render/assemble.hpp"

namespace plimsoll::engine {

using Messages = std::vector<std::size_t>;  // indices, rising

// Options of a request for the gateway, in its field `plimsoll` and outside it.
struct RequestWishes {
  std::string index;  // index to search; empty: none
  bool explain = false;
  bool check = false;            // compare the answer with its passages
  std::optional<Tokens> budget;  // most tokens of passages
  std::optional<PassageOrder> order;
  std::optional<bool> fallback;
  std::vector<std::string> fallback_models;
  std::string session;
  std::optional<bool> compress{};  // compress history if due
  std::optional<bool> memory{};    // include memories
};

// A summary that replaces the oldest turns, which are no longer in the body (F5).
struct Compressed {
  struct Message {
    std::size_t given_at = 0;  // in the original request
    Tokens tokens = 0;
  };
  render::Summary summary;
  std::vector<Message> replaced;
  bool is_dropped = false;  // not even the summary fits
  PlannedSummary told;
  // For continuing it with a longer summary.
  KeptSummary kept;
  base::Sha256 state;             // of its hash
  std::vector<std::string> last;  // hashes of its single turns
};

struct RequestParts {
  std::string_view text;        // the original request; must outlive its parts
  nlohmann::ordered_json body;  // an object with `messages`, from count::read_chat_request
  Messages system;              // never cut
  // Units of cutting, oldest first: a user message with all its answers. A tool call and its result are
  // never separated. After the last question, each answer with its tool results is one turn.
  std::vector<Messages> turns;
  Messages question;         // never cut: the last user message, and the last step after it
  std::size_t asked_at = 0;  // the message that passages are added to
  std::string query;         // the user's question as text
  std::string rewritten{};   // the question as rewritten by a model; empty: not rewritten
  std::vector<render::Fact> facts;
  std::vector<double> importance;  // of each fact
  std::vector<render::Passage> passages;
  std::vector<double> score;  // of each passage
  std::string instruction;    // how to use the passages; or empty
  std::optional<Tokens> max_tokens;
  Tokens thinking = 0;
  std::optional<double> context_ratio;
  std::optional<Policy> policy;
  RequestWishes wishes;
  std::optional<Compressed> compressed;
  std::vector<std::size_t> given_at;  // position of each message in the original request; empty: unchanged
  bool altered = false;               // the body differs from the original
};

// `index`: from a model name MODEL+INDEX, used like index_name.
Result<RequestParts> read_parts(std::string_view request, std::string_view index = {});

// Returns "messages[3]", by the message's position in the original request.
std::string message_id(const RequestParts& parts, std::size_t index);

// Returns the summary of older turns, if it is sent.
const render::Summary* summary_of(const RequestParts& parts);

}  // namespace plimsoll::engine
