// A completion with documents, as chat-with-documents clients read it.
#pragma once

#include <string>
#include <string_view>

#include "gateway/http/http_server.hpp"
#include "gateway/mcp/mcp.hpp"

namespace plimsoll::gateway {

struct DocumentAnswer {
  std::string text;
  std::string model;            // that answered
  Json chunks = Json::array();  // [{content, score, document, metadata, tokens, ...}], as they were sent
  Json optimization;            // context_window_optimization
  Json usage, finish_reason;
  Json plimsoll;  // the plan's summary, without what stands above
};

// What a completion, or a chunk of one, says beside its text.
void take_extras(Json& completion, DocumentAnswer& answer);

// upstream_failed: it is no completion.
Result<DocumentAnswer> read_document_answer(std::string_view completion);

// {answer, chunks, metadata, ...}
Json answer_json(DocumentAnswer answer);

// Takes the engine's answer, whole or in pieces. Pieces go on as events {"delta": ...}; the last word is for
// whoever keeps the turn first. The reply outlives it.
class ChatSink final : public engine::AnswerSink {
 public:
  ChatSink(ClientReply& reply, bool streams) : reply_(reply), streams_(streams) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;

  // What was said, when the engine has said all of it; or why there is no answer.
  Result<DocumentAnswer> take();
  // The status of an answer that `take` has no answer for.
  int status() const { return head_.status >= 400 ? head_.status : 502; }
  // The end: one object, or the last event.
  Awaitable<void> finish(int status, Json json);

 private:
  void take_event(std::string_view data, std::string& out);

  ClientReply& reply_;
  bool streams_;
  engine::AnswerHead head_;
  bool events_ = false;  // it comes as server-sent events
  std::string held_;     // the beginning of an event; else the whole body
  std::string problem_;  // that ended a stream
  DocumentAnswer answer_;
};

}  // namespace plimsoll::gateway
