// Time of a cache hit.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "models/window_cache.hpp"

namespace plimsoll::models {
namespace {

const std::string upstream = "any http://inference.example.internal:8000";

WindowCache& full_cache() {
  static WindowCache cache({});
  static const bool filled = [] {
    for (int i = 0; i < 1000; ++i)
      cache.put(upstream, fmt::format("organisation/model-{}-instruct", i), std::make_shared<ModelReport>());
    return true;
  }();
  benchmark::DoNotOptimize(filled);
  return cache;
}

void hit(benchmark::State& state) {
  WindowCache& cache = full_cache();
  const std::string model = "organisation/model-500-instruct";
  const Deadline deadline = Deadline::after(std::chrono::hours(1));
  for (auto _ : state) {
    const auto found = cache.get(upstream, model, deadline, [] { return ModelReport{}; });
    if (!found) state.SkipWithError("missed");
    benchmark::DoNotOptimize(found->window.tokens);
  }
}
BENCHMARK(hit)->ThreadRange(1, 4);

}  // namespace
}  // namespace plimsoll::models
