// A trace: a plan and its result. And the ports to the store of traces and of what is learned from
// them, and to what collects spans.
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

struct Plan;                            // plan.hpp
enum class RequestKind : std::uint8_t;  // chat.hpp

// Reported numbers are bounded when they are read, and sums are capped, so no number from outside can cause
// an overflow.
inline constexpr Tokens most_reported = 100'000'000;        // by one reply: above every window
inline constexpr Tokens most_used = 1'000'000'000'000'000;  // by one account in total
constexpr Tokens add_used(Tokens a, Tokens b) {
  const auto bounded = [](Tokens tokens) { return tokens < 0 ? 0 : tokens > most_used ? most_used : tokens; };
  return bounded(bounded(a) + bounded(b));
}

// The place of a request in a trace that spans several programs (W3C Trace Context).
struct TraceContext {
  std::string trace_id{};  // 32 hex digits in lower case; empty: the request belongs to no such trace
  std::string span_id{};   // 16 hex digits: of the program that sent the request
  std::uint8_t flags = 0;  // bit 0: the sender records the trace
  std::string state{};     // tracestate: what vendors say of it, passed on

  bool is_known() const { return !trace_id.empty(); }
  bool is_sampled() const { return (flags & 1) != 0; }
  bool operator==(const TraceContext&) const = default;
};

// Token usage as reported by an upstream.
struct Usage {
  std::optional<Tokens> input{};
  std::optional<Tokens> answer{};    // including thinking
  std::optional<Tokens> thinking{};  // part of `answer`
  std::optional<Tokens> cached{};    // part of `input`
  // For the cost. Tokens that were written to the provider's cache are part of `input`, those that stay there
  // for an hour part of `written`.
  std::optional<Tokens> written{}, written_hour{};
  std::optional<Tokens> total{};  // of input and answer; of some providers, with thinking beside the answer
  bool has_other_price = false;   // by its own account: another service tier, or tokens of sound
};

// What a request costs by the list price of its model. Known if every reply reported what its price depends
// on.
inline constexpr std::int64_t most_cost = 9'000'000'000'000'000;  // in total: nine million dollars
struct Cost {
  std::optional<std::int64_t> nano_usd{};  // billionths of a US dollar
  std::string why{};                       // why it is not known; empty: nothing was answered

  bool operator==(const Cost&) const = default;
};
constexpr std::int64_t add_cost(std::int64_t a, std::int64_t b) {
  const auto bounded = [](std::int64_t cost) { return cost < 0 ? 0 : cost > most_cost ? most_cost : cost; };
  return bounded(bounded(a) + bounded(b));
}

// The number by which a protocol says how a request ended: HTTP's status, whatever the client's protocol.
// Adapters and the gateway give it its meaning; between them it is passed on.
enum class ReplyCode : int { none = 0 };
constexpr int number_of(ReplyCode code) {
  return static_cast<int>(code);
}

// One request to an upstream; an answer may need several.
struct TraceAttempt {
  std::string upstream;
  std::string model;
  ReplyCode code{};     // none: no reply
  std::string outcome;  // "answered", "overflow: the window is 4,096", "connection refused"
  Tokens window = 0;    // of the plan
  std::int64_t took_us = 0;
  // Not stored, but part of its span: when it began after the request came, and the kind of server.
  std::int64_t began_us = 0;
  std::string provider{};
  std::string span_id{};  // empty: no spans are sent
};

struct TracePassage {
  std::string document;  // its key
  Span source;           // of the source file
  Tokens tokens = 0;
  double score = 0;     // calibrated, 0 to about 1
  double distance = 0;  // squared, between unit vectors
  std::string reason;
  std::string text;  // only if prompts are stored
  // From 1; 0: not known. Traces of older versions have no last page.
  std::uint64_t page = 0, last_page = 0, first_line = 0, last_line = 0;
};

// A document that the search found, and no passage of which was sent.
struct TraceLeftOut {
  std::string document;  // its key
  double score = 0;      // of its best sentence, as above
  double relevance = 0;  // of its best sentence, comparable between queries
  std::string reason;
};

// Tokens of a section of the prompt or of the output: "template", "system", "tools", "memory", "history",
// "context", "question", "prompt" (the whole prompt, if its sections are not known), "thinking", "answer".
struct SectionTokens {
  std::string section;
  Tokens tokens = 0;

  bool operator==(const SectionTokens&) const = default;
};

struct Trace {
  std::string id;  // rises with time
  std::string owner;
  std::string session;      // from the request, or empty
  std::string route;        // "/v1/chat/completions"
  std::int64_t at_ms = 0;   // UTC
  std::string asked_model;  // requested by the client
  std::string model;        // that answered
  std::string upstream;
  std::string index;  // that was searched, or empty
  bool stream = false;
  bool changed = false;  // false: the request was forwarded byte for byte
  ReplyCode code{};      // of the answer
  std::string error;     // why there was no answer
  std::string finish_reason;

  // The plan: input + thinking + answer + margin <= window.
  Tokens window = 0, input = 0, thinking = 0, answer = 0, margin = 0;
  Exactness exactness = Exactness::exact;
  std::string plan;  // in the format of plan_json; empty: none

  Usage usage;
  Cost cost;                        // of all replies, and of summaries that a model wrote for the request
  std::vector<SectionTokens> used;  // of the answered request; counts towards its owner's usage
  std::optional<Tokens> drift;      // input read by the upstream minus the plan's input
  Tokens cut = 0;                   // tokens of the prompt that the upstream dropped
  std::int64_t plan_us = 0, retrieve_us = 0, first_byte_us = 0, total_us = 0;

  std::vector<TraceAttempt> attempts;
  std::vector<TracePassage> passages;
  std::vector<TraceLeftOut> left_out;  // the best of them
  std::int64_t left_out_total = 0;
  std::vector<std::string> warnings;
  std::string prompt;  // the body as sent, only if prompts are stored
  // The request's own span, and the one that it is part of; empty: neither does the client trace, nor we.
  TraceContext context;
  std::string parent_span;  // not stored
  // Ids of our own facts in the prompt; not stored. If a fact is deleted before its trace is stored, the
  // trace must not contain the prompt.
  std::vector<std::string> facts;
};

// Returns the code of a request that fails with this error.
ReplyCode reply_code(Errc code);
inline constexpr ReplyCode code_of_limits{429};  // a limit of its owner did not allow it
constexpr bool was_answered(const Trace& trace) {
  return number_of(trace.code) >= 200 && number_of(trace.code) < 300;
}

// Returns one JSON object, schema 1, on one line. read_trace reads it back; damaged: anything else.
std::string trace_json(const Trace& trace);
// Without what may hold a memory that was forgotten while the request ran: the prompt, and a server's words
// in warnings and error.
std::string trace_json_without_words(const Trace& trace);
Result<Trace> read_trace(std::string_view json);

// Identifies a history of differences between plan and usage: upstream, model, chat template and
// owner.
struct DriftKey {
  std::string upstream;
  std::string model;
  std::string format;
  std::string owner;

  auto operator<=>(const DriftKey&) const = default;
};
struct SeenDrift {
  Tokens difference = 0;   // usage minus plan
  std::int64_t at_ms = 0;  // UTC

  bool operator==(const SeenDrift&) const = default;
};
struct DriftHistory {
  DriftKey key;
  std::vector<SeenDrift> recent;  // oldest first
  std::int64_t seen = 0;          // in total
};
// Most histories that are kept; the most recently updated ones, each for at most a day after its last update.
inline constexpr std::int64_t most_drift_kept = 4'096;
inline constexpr std::int64_t drift_kept_ms = std::int64_t{24} * 3600 * 1000;

// An operator's order to forget what was learned about a model, or about all (empty).
struct ForgetOrder {
  std::int64_t number = 0;  // rises
  std::string model;
};

// Usage totals. A request counts once in each section that it used, and once in the section with an empty
// name, which has no tokens, but the cost.
struct UsedTokens {
  std::int64_t day = 0;  // since 1970, UTC
  std::string owner;
  std::string model;  // that answered; empty: none
  std::string section;
  Tokens tokens = 0;
  std::int64_t requests = 0;
  std::int64_t nano_usd = 0;  // cost of the requests whose cost is known
  std::int64_t priced = 0;    // how many these are
};
constexpr std::int64_t day_of(std::int64_t at_ms) {
  return at_ms / (std::int64_t{24} * 3600 * 1000);
}

// Limits for stored traces; the oldest are deleted first.
struct TraceLimits {
  std::int64_t most = 10'000;  // 0: store none, whatever the other limits are
  std::int64_t oldest_ms = std::int64_t{30} * 24 * 3600 * 1000;
  std::int64_t bytes = std::int64_t{256} << 20;
};

// Thread-safe.
class TraceStore {
 public:
  TraceStore() = default;
  TraceStore(const TraceStore&) = delete;
  TraceStore& operator=(const TraceStore&) = delete;
  virtual ~TraceStore() = default;

  // Stores all traces with drift and usage, or nothing. Usage is added to the existing totals. Then deletes
  // traces above the limits.
  virtual Result<void> keep(std::span<const Trace> traces, std::span<const DriftHistory> drift,
                            std::span<const UsedTokens> used, const TraceLimits& limits) = 0;
  // not_found: no such trace. An id may be shortened while it is unique. An empty owner means all owners,
  // here and below; only for the operator, never for clients.
  virtual Result<Trace> trace(std::string_view owner, std::string_view id) = 0;
  struct Wanted {
    std::string session{};  // empty: all
    std::string after{};    // only traces with ids above this one
    std::size_t limit = 20;
    bool oldest_first = false;
    // Order, and `after`, by end time instead of start time. For following new traces: a long answer ends
    // after short ones that started later.
    bool as_kept = false;
  };
  virtual Result<std::vector<Trace>> traces(std::string_view owner, const Wanted& wanted) = 0;
  virtual Result<std::vector<DriftHistory>> drift() = 0;
  // Removes the drift of a model, or of all (empty), and stores the order for running gateways. Returns the
  // number of removed histories.
  virtual Result<std::int64_t> forget_drift(std::string_view model) = 0;
  // The same without an order, for a gateway that obeys one.
  virtual Result<std::int64_t> delete_drift(std::string_view model) = 0;
  virtual Result<std::vector<ForgetOrder>> forget_orders(std::int64_t after) = 0;
};

// The port to what collects spans of requests.
// Thread-safe. No call waits for the collector.
class SpanSink {
 public:
  SpanSink() = default;
  SpanSink(const SpanSink&) = delete;
  SpanSink& operator=(const SpanSink&) = delete;
  virtual ~SpanSink() = default;

  // Returns a new span: in the client's trace and as its flags say, or in a new trace if the client told
  // none.
  virtual TraceContext begin(const TraceContext& of_client) = 0;
  // Takes a request that has ended: a span for it, and one for each attempt that has an id. Words of clients
  // and servers (prompts, passages, errors, warnings) go along only if `with_words` is set.
  virtual void add(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words) = 0;

  // Requests whose spans the collector took, or which were lost.
  virtual std::uint64_t sent() const = 0;
  virtual std::uint64_t dropped() const = 0;
};

}  // namespace plimsoll
