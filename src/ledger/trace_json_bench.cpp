// Writing a trace with a plan of 2 KB and of 20 KB: about 5 microseconds, then linear in the plan. And
// looking up drift: well under one.
#include <benchmark/benchmark.h>

#include "ledger/drift.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {
namespace {

Trace trace_with_plan(std::size_t bytes) {
  Trace trace;
  trace.id = "01jctq2v9x7m4d8k2r5n";
  trace.owner = "local";
  trace.route = "/v1/chat/completions";
  trace.at_ms = 1'795'000'000'000;
  trace.asked_model = trace.model = "llama3.2:3b";
  trace.upstream = "ollama";
  trace.window = 8'192;
  trace.input = 2'000;
  trace.usage = {.input = 2'000, .answer = 117, .thinking = {}, .cached = {}};
  trace.drift = 0;
  trace.attempts.push_back({"ollama", "llama3.2:3b", 200, "answered", 8'192, 1'250'000});
  trace.plan = "{\n  \"sections\": [";
  while (trace.plan.size() < bytes)
    trace.plan +=
        "\n    {\n      \"name\": \"history\",\n      \"basis\": 1200,\n      \"used\": 1200\n    },";
  trace.plan.back() = '\n';
  trace.plan += "  ]\n}\n";
  return trace;
}

void TraceJson(benchmark::State& state) {
  const Trace trace = trace_with_plan(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(trace_json(trace));
}
BENCHMARK(TraceJson)->Arg(2'000)->Arg(20'000)->Unit(benchmark::kMicrosecond);

void ReadTrace(benchmark::State& state) {
  const std::string text = trace_json(trace_with_plan(2'000));
  for (auto _ : state) benchmark::DoNotOptimize(read_trace(text));
}
BENCHMARK(ReadTrace)->Unit(benchmark::kMicrosecond);

void LookUpDrift(benchmark::State& state) {
  static ledger::DriftBook book;
  const DriftKey key{"ollama", "llama3.2:3b", "llama3"};
  if (state.thread_index() == 0)
    for (int i = 0; i < 100; ++i) book.learn({"ollama", "llama3." + std::to_string(i), "llama3"}, i);
  for (auto _ : state) benchmark::DoNotOptimize(book.of(key));
}
BENCHMARK(LookUpDrift)->Threads(1)->Threads(2);

}  // namespace
}  // namespace plimsoll
