// The interface by which the engine gives an answer. Each protocol of clients implements it in its own
// format.
#pragma once

#include <optional>
#include <string_view>

#include "engine/limits.hpp"
#include "engine/report.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::engine {

// What is known when an answer begins.
struct AnswerStart {
  const Trace& trace;     // with the plan's figures
  const ReplyInfo& from;  // how the server began
  bool is_chat = true;
  std::optional<std::size_t> passages{};  // in the prompt; none: no index was named
  bool tells = false;                     // a report follows
  bool hides_usage = false;               // the client did not ask for the event that has usage alone
};

// How a stream ends.
struct AnswerEnd {
  const AnswerReport* report = nullptr;  // null: there is nothing to tell
  std::string_view mark{};               // of the end, with its framing, if the server sent one
  const Error* broken = nullptr;         // why it broke off
};

// Gets one answer: `whole`; or `begin`, `events` any number of times, and `end`; or `refused`; or
// `turned_away`. All of them return when the client has taken it, so that a slow client slows the server
// down. An error of any of them: the client has disconnected. Arguments are valid during the call.
class AnswerSink {
 public:
  AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;
  virtual ~AnswerSink() = default;

  virtual Awaitable<Result<void>> whole(const AnswerStart& start, const ReplyBody& body,
                                        const AnswerReport* report) = 0;
  virtual Awaitable<Result<void>> begin(const AnswerStart& start) = 0;
  virtual Awaitable<Result<void>> events(const AnswerEvents& events) = 0;
  virtual Awaitable<Result<void>> end(const AnswerEnd& end) = 0;
  // The server answered with an error.
  virtual Awaitable<Result<void>> refused(const AnswerStart& start, const ReplyBody& body) = 0;
  // A limit of the caller does not allow the request now.
  virtual Awaitable<Result<void>> turned_away(const Trace& trace, const Refusal& refusal) = 0;
};

}  // namespace plimsoll::engine
