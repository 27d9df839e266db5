// The port to what a chat with documents keeps: conversations, and work that goes on behind a request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

// What one side said.
struct Turn {
  std::string role;  // "user", "assistant"
  std::string text;
  std::int64_t at_ms = 0;  // UTC
  std::string trace;       // of the request that it belongs to
  std::string collection;  // whose documents were asked
  std::string model;       // that answered, or was asked
};

struct SessionInfo {
  std::string id;
  std::int64_t created_ms = 0, updated_ms = 0;  // UTC
  std::int64_t turns = 0;
  std::int64_t bytes = 0;  // of their texts
};

// What is kept of one owner's sessions. Beyond a limit the oldest go: whole questions with their answers, and
// whole sessions by when somebody last spoke. What was said last always stays.
struct SessionLimits {
  std::int64_t turns = 1'000;  // of one session
  std::int64_t bytes = std::int64_t{4} << 20;
  std::int64_t sessions = 10'000;
};

// What stands for the oldest turns of a conversation (F5), and the turns themselves.
struct KeptSummary {
  std::string hash;       // of all turns that it replaces
  std::string ends_with;  // hash of the last of them alone: finds it where a conversation lost its beginning
  std::string parent;     // hash of the summary that it continues; empty: none
  std::string how;        // "model", "extractive"
  std::string model;      // that wrote it
  std::string text;
  std::int64_t turns = 0, messages = 0;  // that it replaces, with its parent's
  std::int64_t at_ms = 0;                // UTC
  // What it replaces beside its parent's: a JSON list of {"id", "message"}. Only where it is asked for.
  std::string originals;
};

// Beyond them an owner's oldest go. A summary of one session does not serve another.
struct SummaryLimits {
  std::int64_t count = 10'000;
  std::int64_t age_ms = std::int64_t{90} * 24 * 3600 * 1000;
  std::int64_t bytes = std::int64_t{256} << 20;  // with what they replace
};

enum class RunState : std::uint8_t { running, done, failed, interrupted };
constexpr std::string_view name_of(RunState state) {
  constexpr std::string_view names[] = {"running", "done", "failed", "interrupted"};
  return names[static_cast<std::size_t>(state)];
}

// Work that was accepted and goes on: an evaluation, an upload.
struct Run {
  std::string id;
  std::string owner;
  std::string kind;  // "evaluation", "upload"
  RunState state = RunState::running;
  std::int64_t created_ms = 0, ended_ms = 0;  // UTC; 0: it has not ended
  std::string asked;                          // JSON
  std::string outcome;                        // JSON; empty until it ends
  std::vector<std::string> parts;             // JSON each, in order
};

// Any thread may call at any time. What a call that changes something has answered is on disk.
class SessionStore {
 public:
  SessionStore() = default;
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;
  virtual ~SessionStore() = default;

  // All of them or none; a session that is not there is made. None where the first of them was said before
  // the session was forgotten: what was under way then brings nothing back.
  virtual Result<void> append(std::string_view owner, std::string_view session, std::span<const Turn> turns,
                              const SessionLimits& limits) = 0;
  // Oldest first; none where there is no such session.
  virtual Result<std::vector<Turn>> turns(std::string_view owner, std::string_view session) = 0;
  // Those that were spoken in last come first.
  virtual Result<std::vector<SessionInfo>> sessions(std::string_view owner, std::size_t limit) = 0;
  // With its summaries. False: there was neither.
  virtual Result<bool> forget(std::string_view owner, std::string_view session) = 0;

  // One of the same hash is replaced. Nothing is kept where its turns were there (`at_ms`) before the session
  // was forgotten.
  virtual Result<void> keep_summary(std::string_view owner, std::string_view session,
                                    const KeptSummary& summary, const SummaryLimits& limits) = 0;
  // Oldest first; without their texts unless `whole`.
  virtual Result<std::vector<KeptSummary>> summaries(std::string_view owner, std::string_view session,
                                                     bool whole) = 0;
  // Without its originals; not_found.
  virtual Result<KeptSummary> summary(std::string_view owner, std::string_view session,
                                      std::string_view hash) = 0;

  // One that has ended already is kept with its outcome. Runs of the same owner and kind that have ended go,
  // the oldest first, while there are more than `most`.
  virtual Result<void> begin_run(const Run& run, std::int64_t most) = 0;
  virtual Result<void> add_part(std::string_view owner, std::string_view run, std::string_view json) = 0;
  virtual Result<void> end_run(std::string_view owner, std::string_view run, RunState state,
                               std::string_view outcome) = 0;
  // not_found where there is none of that kind.
  virtual Result<Run> run(std::string_view owner, std::string_view kind, std::string_view id) = 0;
  // False: there was none of that kind.
  virtual Result<bool> forget_run(std::string_view owner, std::string_view kind, std::string_view id) = 0;
  // At the start of a server: what ran before does so no more. One that another process still has under way
  // is put right when it ends there.
  virtual Result<void> interrupt_runs() = 0;
};

}  // namespace plimsoll
