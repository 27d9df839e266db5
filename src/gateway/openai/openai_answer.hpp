// Writes the engine's answer for a client of OpenAI's API. The bytes of a server that speaks it are passed on
// as they came; the report is added to them.
#pragma once

#include <string>

#include "engine/answer.hpp"
#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// Adds fields at the end of a JSON object. Any other text is returned unchanged.
std::string with_fields(std::string_view text, std::string_view fields);
// K6: adds `detail` to an error that has `error`.
std::string with_detail(std::string_view body, std::string_view said);

// Adds a report to a stream: to its last chunk, which is known only when the stream ends.
class ReportedStream {
 public:
  ReportedStream(bool tells, bool hides_usage) : tells_(tells), hides_usage_(hides_usage) {}

  // Returns the bytes to pass on, valid until the next call.
  std::string_view pass(const AnswerEvents& events);
  // Returns the rest. `fields`: of the report; empty: none.
  std::string end(std::string_view fields, std::string_view mark);

 private:
  bool tells_, hides_usage_;
  std::string held_;  // the chunk that may be the last
  std::string out_;
};

// All arguments must outlive it.
class OpenAiAnswer final : public engine::AnswerSink {
 public:
  // `lists_sources`: every whole answer of a chat has source_nodes, as RAGEngine's.
  OpenAiAnswer(engine::WorkerContext& thread, ClientReply& reply, bool lists_sources = false)
      : thread_(thread), reply_(reply), lists_sources_(lists_sources) {}

  Awaitable<Result<void>> whole(const engine::AnswerStart& start, const ReplyBody& body,
                                const engine::AnswerReport* report) override;
  Awaitable<Result<void>> begin(const engine::AnswerStart& start) override;
  Awaitable<Result<void>> events(const AnswerEvents& events) override;
  Awaitable<Result<void>> end(const engine::AnswerEnd& end) override;
  Awaitable<Result<void>> refused(const engine::AnswerStart& start, const ReplyBody& body) override;
  Awaitable<Result<void>> turned_away(const Trace& trace, const engine::Refusal& refusal) override;

 private:
  Awaitable<Result<void>> send(AnswerHead head, std::string_view body);
  Awaitable<std::string> fields_of(const engine::AnswerReport* report);  // null: none

  engine::WorkerContext& thread_;
  ClientReply& reply_;
  bool lists_sources_;
  ReportedStream stream_{false, false};
};

}  // namespace plimsoll::gateway
