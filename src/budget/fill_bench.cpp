// Fills a window with 1,000 turns and 1,000 passages that are already counted: under 200 microseconds.
#include <benchmark/benchmark.h>

#include <random>

#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

Load load_of(std::int64_t pieces) {
  std::mt19937 rng{5};
  Load load;
  Tokens turns = 0, passages = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    load.turns.push_back({static_cast<Tokens>(20 + rng() % 400)});
    load.passages.push_back({static_cast<Tokens>(80 + rng() % 240), static_cast<double>(rng() % 100'000)});
    turns += load.turns.back().tokens;
    passages += load.passages.back().tokens;
  }
  load.sections = {
      {.kind = SectionKind::format, .basis = 12, .min = 12, .max = 12},
      {.kind = SectionKind::system, .basis = 400, .min = 400, .max = 400},
      {.kind = SectionKind::tools, .basis = 900, .min = 900, .max = 900},
      {.kind = SectionKind::memory},
      {.kind = SectionKind::history, .basis = turns, .max = turns, .shrink = 1},
      {.kind = SectionKind::context, .basis = 4'000, .max = passages, .grow = 1, .shrink = 1},
      {.kind = SectionKind::question, .basis = 90, .min = 90, .max = 90},
      {.kind = SectionKind::thinking, .basis = 2'000, .max = 2'000, .shrink = heaviest},
      {.kind = SectionKind::answer, .basis = 4'000, .min = 500, .max = 4'000, .shrink = heaviest},
      {.kind = SectionKind::margin, .basis = 100, .min = 100, .max = 100}};
  return load;
}

void Fill(benchmark::State& state) {
  const Load load = load_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(fill(128'000, load));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Fill)
    ->RangeMultiplier(10)
    ->Range(10, 10'000)
    ->Complexity(benchmark::oNLogN)
    ->Unit(benchmark::kMicrosecond);

void Negotiate(benchmark::State& state) {
  const Load load = load_of(1'000);
  for (auto _ : state) benchmark::DoNotOptimize(negotiate(128'000, load.sections));
}
BENCHMARK(Negotiate)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plimsoll::budget
