// An answer that the gateway itself asked for.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/answer_sink.hpp"
#include "gateway/openai/report_json.hpp"

namespace plimsoll::gateway {

class HeldAnswer final : public engine::AnswerSink {
 public:
  Awaitable<Result<void>> whole(const engine::AnswerStart&, const ReplyBody& body,
                                const engine::AnswerReport* told) override {
    completion = body.text;
    if (told != nullptr) report = report_json(*told);
    co_return Result<void>();
  }
  // A server that streams although it was not asked to.
  Awaitable<Result<void>> begin(const engine::AnswerStart&) override {
    problem = "the upstream's answer is not a completion";
    co_return Result<void>();
  }
  Awaitable<Result<void>> events(const AnswerEvents&) override { co_return Result<void>(); }
  Awaitable<Result<void>> end(const engine::AnswerEnd&) override { co_return Result<void>(); }
  Awaitable<Result<void>> refused(const engine::AnswerStart&, const ReplyBody& body) override {
    problem = body.said.empty() ? "the upstream refused" : body.said;
    co_return Result<void>();
  }
  Awaitable<Result<void>> turned_away(const Trace&, const engine::Refusal& refusal) override {
    problem = refusal.what;
    wait = std::chrono::seconds(refusal.retry_after_seconds);
    co_return Result<void>();
  }

  std::string completion;
  nlohmann::ordered_json report;             // null: there was nothing to tell
  std::string problem;                       // why there is no answer; empty: there is one
  std::optional<std::chrono::seconds> wait;  // until a limit allows the request
};

}  // namespace plimsoll::gateway
