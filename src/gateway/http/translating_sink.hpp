// Translates the engine's answer for a client of another API.
#pragma once

#include "engine/answer.hpp"
#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// Translates a chat's answer to another API.
class AnswerTranslator {
 public:
  AnswerTranslator() = default;
  AnswerTranslator(const AnswerTranslator&) = delete;
  AnswerTranslator& operator=(const AnswerTranslator&) = delete;
  virtual ~AnswerTranslator() = default;

  virtual std::string_view stream_type() const = 0;  // the media type of a stream
  virtual void begin(const engine::AnswerHead&) {}
  // Takes the data of one event of the chat; appends the translation to `out`.
  virtual void take(std::string_view data, std::string& out) = 0;
  virtual void finish(std::string& out) = 0;  // the end of the stream
  // Translates a whole completion; to a stream if the client wants one. upstream_failed: not a completion.
  virtual Result<std::string> whole(std::string_view completion, bool streams) = 0;
  // Translates the body of an OpenAI error.
  virtual std::string error(std::string body) const = 0;
  // Returns whether the answer is stored before its end, which needs a worker.
  virtual bool is_kept() const { return false; }
};

// All arguments must outlive it.
class TranslatingSink final : public engine::AnswerSink {
 public:
  struct Manner {
    bool streams = true;                // requested by the client
    std::size_t at_once_bytes = 32768;  // longer answers are translated by a worker
    std::size_t most_bytes = std::size_t{64}
                             << 20;  // a longer stream ends with an error: it is buffered to its end
  };
  TranslatingSink(engine::WorkerContext& thread, ClientReply& reply, AnswerTranslator& answer, Manner manner)
      : thread_(thread), reply_(reply), answer_(answer), manner_(manner) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;
  // Call when the engine has finished.
  Awaitable<Result<void>> finish();

 private:
  Awaitable<Result<void>> send_whole(std::string body, std::string type);
  Awaitable<void> work(bool at_once, std::function<void()> what);

  engine::WorkerContext& thread_;
  ClientReply& reply_;
  AnswerTranslator& answer_;
  Manner manner_;
  engine::AnswerHead head_;
  bool has_head_ = false;
  bool events_ = false;    // the answer is a stream of events
  std::size_t taken_ = 0;  // bytes
  std::string held_;       // the start of an event, or the whole body
};

// Runs the engine and translates its answer for the client. Fails only if nothing was sent to the client
// yet. All arguments must outlive it.
Awaitable<Result<void>> answer_translated(engine::Engine& engine, engine::WorkerContext& thread,
                                          engine::Ask ask, ClientReply& reply, AnswerTranslator& answer,
                                          bool streams, Deadline deadline, std::string& trace_id);

}  // namespace plimsoll::gateway
