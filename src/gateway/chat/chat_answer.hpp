// Converts a completion with documents to the format of chat-with-documents clients.
#pragma once

#include <string>
#include <string_view>

#include "engine/answer_sink.hpp"
#include "gateway/http/http_server.hpp"
#include "gateway/mcp/mcp.hpp"

namespace plimsoll::gateway {

struct DocumentAnswer {
  std::string text;
  std::string model;            // that answered
  Json chunks = Json::array();  // [{content, score, document, metadata, tokens, ...}], as they were sent
  Json optimization;            // context_window_optimization
  Json usage, finish_reason;
  Json plimsoll;  // the plan's summary, without the fields above
};

// `report`: of report_json. upstream_failed: not a completion.
Result<DocumentAnswer> read_document_answer(std::string_view completion, Json report);

// {answer, chunks, metadata, ...}
Json answer_json(DocumentAnswer answer);

// Receives the engine's answer, whole or in pieces. Pieces are passed on as events {"delta": ...}; the last
// event is sent after the turn is stored. Thread and reply must outlive it.
class ChatSink final : public engine::AnswerSink {
 public:
  // `longest`: bytes of a stream, whose text is kept to its end.
  ChatSink(engine::WorkerContext& thread, ClientReply& reply, bool streams, std::size_t longest)
      : thread_(thread), reply_(reply), streams_(streams), longest_(longest) {}

  Awaitable<Result<void>> whole(const engine::AnswerStart& start, const ReplyBody& body,
                                const engine::AnswerReport* report) override;
  Awaitable<Result<void>> begin(const engine::AnswerStart& start) override;
  Awaitable<Result<void>> events(const AnswerEvents& events) override;
  Awaitable<Result<void>> end(const engine::AnswerEnd& end) override;
  Awaitable<Result<void>> refused(const engine::AnswerStart& start, const ReplyBody& body) override;
  Awaitable<Result<void>> turned_away(const Trace& trace, const engine::Refusal& refusal) override;

  // Returns the complete answer, or the reason why there is none.
  Result<DocumentAnswer> take();
  // The status if `take` failed.
  int status() const { return head_.status >= 400 ? head_.status : 502; }
  // Sends one object, or the last event.
  Awaitable<void> finish(int status, Json json);

 private:
  engine::WorkerContext& thread_;
  ClientReply& reply_;
  bool streams_;
  std::size_t longest_, taken_ = 0;
  AnswerHead head_;
  bool events_ = false;     // the answer is a stream of events
  std::string completion_;  // a whole answer
  Json report_;             // null: the answer did not come to its end
  std::string problem_;     // why there is no answer
  DocumentAnswer answer_;   // of a stream
};

}  // namespace plimsoll::gateway
