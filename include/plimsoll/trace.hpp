// A trace: a plan with what happened to it. And the port to where traces, and what is learned from them, are
// kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/budget.hpp"
#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// What a server says is bounded where it is read, and sums end at the most that an account may hold, so that
// no number from outside can overflow one.
inline constexpr Tokens most_reported = 100'000'000;        // by one reply: beyond every window
inline constexpr Tokens most_used = 1'000'000'000'000'000;  // by an account, of all times
constexpr Tokens add_used(Tokens a, Tokens b) {
  const auto bounded = [](Tokens tokens) { return tokens < 0 ? 0 : tokens > most_used ? most_used : tokens; };
  return bounded(bounded(a) + bounded(b));
}

// What an upstream says it has read and written.
struct Usage {
  std::optional<Tokens> input{};
  std::optional<Tokens> answer{};    // with what it thought
  std::optional<Tokens> thinking{};  // of these
  std::optional<Tokens> cached{};    // of the input
};

// One request to an upstream, of which an answer may take several.
struct TraceAttempt {
  std::string upstream;
  std::string model;
  int status = 0;       // 0: there was no reply
  std::string outcome;  // "answered", "overflow: the window is 4,096", "connection refused"
  Tokens window = 0;    // that it was planned for
  std::int64_t took_us = 0;
};

struct TracePassage {
  std::string document;  // its key
  Span source;           // of the file that it was read from
  Tokens tokens = 0;
  double score = 0;     // calibrated, 0 to about 1
  double distance = 0;  // squared, between unit vectors
  std::string reason;
  std::string text;                                       // only where prompts are kept
  std::uint64_t page = 0, first_line = 0, last_line = 0;  // from 1; 0: not known
};

// What a section of the prompt took, or what was written: "template", "system", "tools", "memory", "history",
// "context", "question", "prompt" (all of it, where nothing tells its sections apart), "thinking", "answer".
struct SectionTokens {
  std::string section;
  Tokens tokens = 0;

  bool operator==(const SectionTokens&) const = default;
};

struct Trace {
  std::string id;  // rises with time
  std::string owner;
  std::string session;      // as the request calls it, or empty
  std::string route;        // "/v1/chat/completions"
  std::int64_t at_ms = 0;   // UTC
  std::string asked_model;  // by the client
  std::string model;        // that answered
  std::string upstream;
  std::string index;  // whose passages were looked for, or empty
  bool stream = false;
  bool changed = false;  // false: the request went through byte for byte
  int status = 0;        // that the client got
  std::string error;     // why there was no answer
  std::string finish_reason;

  // The plan: input + thinking + answer + margin <= window.
  Tokens window = 0, input = 0, thinking = 0, answer = 0, margin = 0;
  Exactness exactness = Exactness::exact;
  std::string plan;  // as plan_json has it; empty where there was none

  Usage usage;
  std::vector<SectionTokens> used;  // of the request that was answered; what its owner's usage is counted by
  std::optional<Tokens> drift;      // what the upstream read, less the plan's input
  Tokens cut = 0;                   // that the upstream left out of the prompt
  std::int64_t plan_us = 0, retrieve_us = 0, first_byte_us = 0, total_us = 0;

  std::vector<TraceAttempt> attempts;
  std::vector<TracePassage> passages;
  std::vector<std::string> warnings;
  std::string prompt;  // the body as it was sent, only where prompts are kept
  // Our own facts in the prompt, by id; not kept. Of a fact that is forgotten before its trace is kept, no
  // prompt may tell.
  std::vector<std::string> facts;
};

// One JSON object, schema 1, on one line. read_trace takes what trace_json gives; damaged for anything else.
std::string trace_json(const Trace& trace);
Result<Trace> read_trace(std::string_view json);

// What was seen of the difference between plan and usage, by upstream, model, chat format and whose request
// it was.
struct DriftKey {
  std::string upstream;
  std::string model;
  std::string format;
  std::string owner;

  auto operator<=>(const DriftKey&) const = default;
};
struct SeenDrift {
  Tokens difference = 0;   // usage less plan
  std::int64_t at_ms = 0;  // UTC

  bool operator==(const SeenDrift&) const = default;
};
struct DriftHistory {
  DriftKey key;
  std::vector<SeenDrift> recent;  // oldest first
  std::int64_t seen = 0;          // of all times
};
// So many histories are kept, those that were learned from last, and none for longer than a day after that.
inline constexpr std::int64_t most_drift_kept = 4'096;
inline constexpr std::int64_t drift_kept_ms = std::int64_t{24} * 3600 * 1000;

// An operator's order to forget what was learned of a model, or of all (empty).
struct ForgetOrder {
  std::int64_t number = 0;  // rises
  std::string model;
};

// What was used, added up. A request counts once in each section that it used, and once in the section
// without a name, where there are no tokens.
struct UsedTokens {
  std::int64_t day = 0;  // since 1970, UTC
  std::string owner;
  std::string model;  // that answered; empty: none did
  std::string section;
  Tokens tokens = 0;
  std::int64_t requests = 0;
};
constexpr std::int64_t day_of(std::int64_t at_ms) {
  return at_ms / (std::int64_t{24} * 3600 * 1000);
}

// How many traces stay; the oldest go first.
struct TraceLimits {
  std::int64_t most = 10'000;  // 0: none are kept, whatever the others say
  std::int64_t oldest_ms = std::int64_t{30} * 24 * 3600 * 1000;
  std::int64_t bytes = std::int64_t{256} << 20;
};

// Any thread may call at any time.
class TraceStore {
 public:
  TraceStore() = default;
  TraceStore(const TraceStore&) = delete;
  TraceStore& operator=(const TraceStore&) = delete;
  virtual ~TraceStore() = default;

  // All or none of them, and with them drift and what was used, which is added to what is there; then what is
  // beyond the limits goes.
  virtual Result<void> keep(std::span<const Trace> traces, std::span<const DriftHistory> drift,
                            std::span<const UsedTokens> used, const TraceLimits& limits) = 0;
  // not_found where there is none. An id may be shortened as long as it is clear. An empty owner stands for
  // all of them, here and below: for who runs the program, and never for who asks it.
  virtual Result<Trace> trace(std::string_view owner, std::string_view id) = 0;
  struct Wanted {
    std::string session{};  // empty: all
    std::string after{};    // only traces with ids above this one
    std::size_t limit = 20;
    bool oldest_first = false;
    // By when they were kept, which is when they ended, instead of when they began; `after` too. For who
    // follows: a long answer is kept after short ones that began later.
    bool as_kept = false;
  };
  virtual Result<std::vector<Trace>> traces(std::string_view owner, const Wanted& wanted) = 0;
  virtual Result<std::vector<DriftHistory>> drift() = 0;
  // Removes the drift of a model, or of all (empty), and notes the order for gateways that run. Gives how
  // many histories there were.
  virtual Result<std::int64_t> forget_drift(std::string_view model) = 0;
  virtual Result<std::vector<ForgetOrder>> forget_orders(std::int64_t after) = 0;
};

}  // namespace plimsoll
