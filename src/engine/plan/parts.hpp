// A request taken apart into what a plan may and may not cut.
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

// What a request may ask of the gateway, in its field `plimsoll` and beside it.
struct RequestWishes {
  std::string index;  // whose documents are to be looked into; empty: none
  bool explain = false;
  std::optional<Tokens> budget;  // the most that passages may take
  std::optional<PassageOrder> order;
  std::optional<bool> fallback;
  std::vector<std::string> fallback_models;
  std::string session;
  std::optional<bool> compress{};  // history, where it is due
  std::optional<bool> memory{};    // whether what is remembered comes along
};

// What stands for the oldest turns, which are no longer in the body (F5).
struct Compressed {
  struct Message {
    std::size_t given_at = 0;  // in the request as it was given
    Tokens tokens = 0;
  };
  render::Summary summary;
  std::vector<Message> replaced;
  bool is_dropped = false;  // not even the summary fits
  PlannedSummary told;
  // From which a longer one goes on.
  KeptSummary kept;
  base::Sha256 state;             // of its hash
  std::vector<std::string> last;  // hashes of its turns alone
};

struct RequestParts {
  std::string_view text;        // the request as it was given; lives longer than its parts
  nlohmann::ordered_json body;  // an object with `messages`, as count::read_chat_request takes it
  Messages system;              // never cut
  // What is cut together, oldest first: a user's words with all that answered them. A call of a tool and
  // its result are never parted. Behind the last question, each answer with its tools' results is one.
  std::vector<Messages> turns;
  Messages question;         // never cut: the user's last words, and the last step that followed them
  std::size_t asked_at = 0;  // the message that passages go into
  std::string query;         // what the user asks, as text
  std::string rewritten{};   // the same, said in full by a model; empty: it was not
  std::vector<render::Fact> facts;
  std::vector<double> importance;  // of each fact
  std::vector<render::Passage> passages;
  std::vector<double> score;  // of each passage
  std::string instruction;    // what the model is told to do with the passages; or empty
  std::optional<Tokens> max_tokens;
  Tokens thinking = 0;
  std::optional<double> context_ratio;
  std::optional<Policy> policy;
  RequestWishes wishes;
  std::optional<Compressed> compressed;
  std::vector<std::size_t> given_at;  // where each message of the body stood in the request; empty: there
  bool altered = false;               // the body is no longer what was given
};

// `index`: of a request that names it in its model (MODEL+INDEX), read as if it were in index_name.
Result<RequestParts> read_parts(std::string_view request, std::string_view index = {});

// "messages[3]": what a message of the body is called, by where it stood in the request as it was given.
std::string message_id(const RequestParts& parts, std::size_t index);

// What stands for older turns, where it goes along.
const render::Summary* summary_of(const RequestParts& parts);

}  // namespace plimsoll::engine
