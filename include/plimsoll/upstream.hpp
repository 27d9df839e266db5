// The port to a model server. The common form of requests and answers is OpenAI's chat API, whatever the
// server's protocol: an answer of a server that speaks it keeps its bytes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/chat.hpp"
#include "plimsoll/http_stream.hpp"
#include "plimsoll/tokens.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {

// A request in the API of the client, for a server that speaks the same one.
struct NativeRequest {
  std::string body;
  std::vector<HttpHeader> headers{};  // of the client, that belong to the API

  // All text of the client in it, which a server may repeat.
  std::vector<std::string_view> texts() const {
    std::vector<std::string_view> all{body};
    for (const HttpHeader& header : headers) all.emplace_back(header.value);
    return all;
  }
};

// What a request may use besides its own thread.
class RequestResources {
 public:
  RequestResources() = default;
  RequestResources(const RequestResources&) = delete;
  RequestResources& operator=(const RequestResources&) = delete;
  virtual ~RequestResources() = default;
  // Does the work on another thread, and comes back to this one.
  virtual Awaitable<void> elsewhere(std::function<void()> work) = 0;
  // Takes memory for the `bytes` of an answer that have arrived, if they are more than before. False: there
  // is none.
  virtual bool hold_answer(std::size_t /*bytes*/) { return true; }
};

struct UpstreamRequest {
  RequestKind kind = RequestKind::chat;
  std::string body;   // sent byte for byte to an OpenAI-compatible server
  std::string model;  // the server's name for it
  std::string owner;  // cached prompts of one owner are not used for another
  bool stream = false;
  // The window to load the model with, if the server lets us choose (U2).
  std::optional<Tokens> load_window{};
  // What the plan reserves for the answer: sent to a server that requires a limit, where the body has none.
  // 0: not known.
  Tokens answer = 0;
  // Fields that the server's API does not support: refuse the request, or drop and report them.
  bool refuse_inexpressible = true;
  // The body may have fields that only Anthropic's API knows. Other servers do not get them.
  bool has_anthropic_fields = false;
  // Sent as it is, instead of the body. The reply is then native too.
  std::optional<NativeRequest> native{};
  std::size_t longest_answer = std::size_t{64} << 20;  // bytes; of a stream: of one event
  TraceContext context{};  // of the span that the server belongs to; unknown: it is told none
  // Outlives the reply. Null: all work is done on this thread, and memory is not limited.
  RequestResources* resources = nullptr;
};

// How a server took a request.
enum class Took : std::uint8_t {
  answers,
  limited,         // it has too many requests
  out_of_service,  // the server itself cannot be reached behind its front
  failed,          // on its side, perhaps only for this request
  refused,         // the request is at fault
};

// How a reply begins.
struct ReplyInfo {
  Took took = Took::answers;
  ReplyCode code{};              // for the trace
  std::string outcome{};         // in words: "answered", "status 503"
  bool may_be_too_long = false;  // the request may have been refused because it does not fit
  bool streams = false;          // events follow; else one body
  bool is_native = false;        // in the form of the API that UpstreamRequest::native has
  std::optional<std::chrono::milliseconds> retry_after{};  // asked for by the server
  std::string left_out{};  // fields that the server's API does not support, separated by commas
  // The reply as the server described it. Only protocols of clients look into it, to pass it on.
  ReplyHead head{};
};

// What an event or a body says besides its words; missing parts stay empty.
struct ReplyFacts {
  Usage usage;
  std::string finish_reason;
  bool is_object = false;   // a whole JSON object
  bool has_answer = false;  // choices, or the contents of a message: it answers a chat or a completion
  bool is_error = false;    // an error instead of an answer
  bool no_choices = false;  // it has no words, by its own account
};

struct AnswerEvent {
  std::string_view bytes;  // with its framing, as a client of the same API gets it
  std::string_view data;   // the JSON in it; empty: a comment
  ReplyFacts facts{};
  bool is_done = false;    // marks the end of the stream
  bool is_broken = false;  // the data is not a whole JSON object

  bool has_usage_alone() const { return facts.usage.input && facts.no_choices; }
};

// Events that arrived together. Views are valid until the next call of the reply that gave them.
struct AnswerEvents {
  std::string_view bytes;  // of all events, in a row
  std::span<const AnswerEvent> each;
};

struct ReplyBody {
  std::string text;
  ReplyFacts facts{};
  std::string said{};  // the message of an error
};

// A reply that is being read. Destroying it before its end closes the connection, so the server can stop
// generating.
class UpstreamReply {
 public:
  UpstreamReply() = default;
  UpstreamReply(const UpstreamReply&) = delete;
  UpstreamReply& operator=(const UpstreamReply&) = delete;
  virtual ~UpstreamReply() = default;

  virtual const ReplyInfo& info() const = 0;
  // Returns the next events of a stream, at least one; none at its end and afterwards. `patience`: the
  // longest wait for a sign of the server. timed_out; upstream_failed: cut off, or too long; over_budget: no
  // memory for it (RequestResources).
  virtual Awaitable<Result<AnswerEvents>> next(std::chrono::milliseconds patience, Deadline deadline) = 0;
  // Returns the body of a reply that is not a stream. Errors as above.
  virtual Awaitable<Result<ReplyBody>> body(std::chrono::milliseconds patience, Deadline deadline) = 0;
};

// One server, for one thread, like its HttpStreams.
class UpstreamLink {
 public:
  UpstreamLink() = default;
  UpstreamLink(const UpstreamLink&) = delete;
  UpstreamLink& operator=(const UpstreamLink&) = delete;
  virtual ~UpstreamLink() = default;

  // Returns when the reply has begun. Refusals of the server are replies too. Does not retry. bad_input: the
  // request cannot be converted to the server's format; unreachable, timed_out, io_failed: there is no reply;
  // over_budget: no memory for it (RequestResources).
  virtual Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                                 Deadline deadline) = 0;

  // Returns the prompt that the server's template makes of a chat, without running the model. unsupported:
  // the server has no such function.
  virtual Awaitable<Result<std::string>> rendered(UpstreamRequest /*request*/, Deadline /*deadline*/) {
    co_return fail(Errc::unsupported, "this server cannot show its prompts");
  }
};

}  // namespace plimsoll
