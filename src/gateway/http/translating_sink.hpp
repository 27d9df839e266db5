// Translates the engine's answer for a client of another API, unless the server speaks that API too.
#pragma once

#include <nlohmann/json.hpp>

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
  // The plan of the request, before anything else.
  virtual void planned(const Trace&) {}
  // Takes the data of one event of the chat; appends the translation to `out`.
  virtual void take(std::string_view data, std::string& out) = 0;
  // Takes what the gateway tells about the answer, before its end.
  void tell(const engine::AnswerReport& report);
  // The end of the stream. `complete`: the server marked it.
  virtual void finish(bool complete, std::string& out) = 0;
  // The end of a stream that broke off.
  virtual void break_off(std::string what, std::string& out) = 0;
  // Translates a whole completion; to a stream if the client wants one. upstream_failed: not a completion.
  virtual Result<std::string> whole(std::string_view completion, bool streams) = 0;
  // Translates an error. `body`: in OpenAI's format; `said`: its message.
  virtual std::string error(int status, std::string body, std::string_view said) const = 0;
  // Returns whether the answer is stored before its end, which needs a worker.
  virtual bool is_kept() const { return false; }

 protected:
  nlohmann::ordered_json plimsoll_, source_nodes_;  // what was told; null: nothing
};

// All arguments must outlive it.
class TranslatingSink final : public engine::AnswerSink {
 public:
  struct Manner {
    bool streams = true;                                 // requested by the client
    std::size_t longest_stream = std::size_t{64} << 20;  // in bytes: a translator keeps all of it to its end
  };
  TranslatingSink(engine::WorkerContext& thread, ClientReply& reply, AnswerTranslator& answer, Manner manner)
      : thread_(thread), reply_(reply), answer_(answer), manner_(manner) {}

  Awaitable<Result<void>> whole(const engine::AnswerStart& start, const ReplyBody& body,
                                const engine::AnswerReport* report) override;
  Awaitable<Result<void>> begin(const engine::AnswerStart& start) override;
  Awaitable<Result<void>> events(const AnswerEvents& events) override;
  Awaitable<Result<void>> end(const engine::AnswerEnd& end) override;
  Awaitable<Result<void>> refused(const engine::AnswerStart& start, const ReplyBody& body) override;
  Awaitable<Result<void>> turned_away(const Trace& trace, const engine::Refusal& refusal) override;

 private:
  Awaitable<Result<void>> send(AnswerHead head, std::string_view type, std::string body);
  Awaitable<void> work(bool at_once, std::function<void()> what);

  engine::WorkerContext& thread_;
  ClientReply& reply_;
  AnswerTranslator& answer_;
  Manner manner_;
  std::size_t taken_ = 0;   // bytes
  bool is_native_ = false;  // the server speaks the client's API: its bytes go out as they are
};

// Runs the engine and translates its answer for the client. Fails only if nothing was sent to the client
// yet. All arguments must outlive it.
Awaitable<Result<void>> answer_translated(engine::Engine& engine, engine::WorkerContext& thread,
                                          engine::Ask ask, ClientReply& reply, AnswerTranslator& answer,
                                          bool streams, Deadline deadline, std::string& trace_id);

}  // namespace plimsoll::gateway
