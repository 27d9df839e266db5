// The port to the store of conversations and background jobs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

// One message of a conversation.
struct Turn {
  std::string role;  // "user", "assistant"
  std::string text;
  std::int64_t at_ms = 0;  // UTC
  std::string trace;       // id of its request's trace
  std::string collection;  // collection that was searched
  std::string model;       // that answered, or that was asked
};

struct SessionInfo {
  std::string id;
  std::int64_t created_ms = 0, updated_ms = 0;  // UTC
  std::int64_t turns = 0;
  std::int64_t bytes = 0;  // of their texts
};

// Limits of one owner's sessions. Above a limit the oldest are deleted: whole questions with their answers,
// and whole sessions by last use. The latest message always stays.
struct SessionLimits {
  std::int64_t turns = 10'000;  // of one session
  std::int64_t bytes = std::int64_t{16} << 20;
  std::int64_t sessions = 10'000;
};

// A summary that replaces the oldest turns of a conversation (F5), with these turns.
struct KeptSummary {
  std::string hash;       // of all replaced turns
  std::string ends_with;  // hash of the last replaced turn only: finds the summary if the conversation lost
                          // its first turns
  std::string parent;     // hash of the summary that it continues; empty: none
  std::string how;        // "model", "extractive"
  std::string model;      // that wrote it
  std::string text;
  std::int64_t turns = 0, messages = 0;  // replaced, including its parent's
  std::int64_t at_ms = 0;                // UTC
  // Replaced messages without its parent's: a JSON list of {"id", "message"}. Only if requested.
  std::string originals;
};

// Above a limit an owner's oldest summaries are deleted. A summary is used only in its own session.
struct SummaryLimits {
  std::int64_t count = 10'000;
  std::int64_t age_ms = std::int64_t{90} * 24 * 3600 * 1000;
  std::int64_t bytes = std::int64_t{256} << 20;  // with the replaced turns
};

// Vectors of the sentences of one turn, for finding it again.
struct TurnVector {
  std::string hash;   // of the turn's text
  std::string bytes;  // as the ranking keeps them
};

enum class RunState : std::uint8_t { running, done, failed, interrupted };
constexpr std::string_view name_of(RunState state) {
  constexpr std::string_view names[] = {"running", "done", "failed", "interrupted"};
  return names[static_cast<std::size_t>(state)];
}

// A background job: an evaluation or an upload.
struct Run {
  std::string id;
  std::string owner;
  std::string kind;  // "evaluation", "upload"
  RunState state = RunState::running;
  std::int64_t created_ms = 0, ended_ms = 0;  // UTC; 0: still running
  std::string asked;                          // JSON
  std::string outcome;                        // JSON; empty until it ends
  std::vector<std::string> parts;             // JSON each, in order
};

// A run in a list, without its outcome and the contents of its parts.
struct RunInfo {
  std::string id;
  RunState state = RunState::running;
  std::int64_t created_ms = 0, ended_ms = 0;  // UTC; 0: still running
  std::string asked;                          // JSON
  std::size_t parts = 0;
};

// Thread-safe. Changes are on disk when a call returns.
class SessionStore {
 public:
  SessionStore() = default;
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;
  virtual ~SessionStore() = default;

  // Stores all turns or none; creates the session if needed. Stores none if the first turn is older than the
  // deletion of the session: a request that was running then must not bring it back.
  virtual Result<void> append(std::string_view owner, std::string_view session, std::span<const Turn> turns,
                              const SessionLimits& limits) = 0;
  // Oldest first; empty if there is no such session.
  virtual Result<std::vector<Turn>> turns(std::string_view owner, std::string_view session) = 0;
  // Most recently used first.
  virtual Result<std::vector<SessionInfo>> sessions(std::string_view owner, std::size_t limit) = 0;
  // Deletes a session with its summaries and vectors. False: there was none of them.
  virtual Result<bool> forget(std::string_view owner, std::string_view session) = 0;

  // Stores a summary; replaces one with the same hash. Stores nothing if its turns (`at_ms`) are older than
  // the deletion of the session.
  virtual Result<void> keep_summary(std::string_view owner, std::string_view session,
                                    const KeptSummary& summary, const SummaryLimits& limits) = 0;
  // Oldest first; without their texts unless `whole`.
  virtual Result<std::vector<KeptSummary>> summaries(std::string_view owner, std::string_view session,
                                                     bool whole) = 0;
  // Without its originals; not_found.
  virtual Result<KeptSummary> summary(std::string_view owner, std::string_view session,
                                      std::string_view hash) = 0;

  // Stores vectors of turns by one embedder; deletes the owner's that are older than `age_ms`. Stores nothing
  // if `at_ms`, the time of the request, is before the deletion of the session.
  virtual Result<void> keep_turn_vectors(std::string_view owner, std::string_view session,
                                         std::string_view embedder, std::span<const TurnVector> vectors,
                                         std::int64_t at_ms, std::int64_t age_ms) = 0;
  // In any order.
  virtual Result<std::vector<TurnVector>> turn_vectors(std::string_view owner, std::string_view session,
                                                       std::string_view embedder) = 0;

  // Stores a run; one that has already ended is stored with its outcome. While there are more than `most`
  // ended runs of the same owner and kind, the oldest are deleted.
  virtual Result<void> begin_run(const Run& run, std::int64_t most) = 0;
  virtual Result<void> add_part(std::string_view owner, std::string_view run, std::string_view json) = 0;
  virtual Result<void> end_run(std::string_view owner, std::string_view run, RunState state,
                               std::string_view outcome) = 0;
  // Newest first.
  virtual Result<std::vector<RunInfo>> runs(std::string_view owner, std::string_view kind,
                                            std::size_t limit) = 0;
  // not_found: no such run of this kind.
  virtual Result<Run> run(std::string_view owner, std::string_view kind, std::string_view id) = 0;
  // False: there was no such run of this kind.
  virtual Result<bool> forget_run(std::string_view owner, std::string_view kind, std::string_view id) = 0;
  // Marks all running jobs as interrupted, at the start of a server. A job that another process still runs
  // is corrected when it ends there.
  virtual Result<void> interrupt_runs() = 0;
};

}  // namespace plimsoll
