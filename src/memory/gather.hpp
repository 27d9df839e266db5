// Facts of several providers at once (S5).
//
// Each is asked on a thread of its own and has until its own deadline. One that fails, hangs, answers too
// much or throws does not stop the others, nor those who wait: gathering ends at the latest of the deadlines.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "memory/choose.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

struct AskedProvider {
  explicit AskedProvider(std::shared_ptr<MemoryProvider> asked, std::chrono::milliseconds time)
      : provider(std::move(asked)), patience(time) {}

  std::shared_ptr<MemoryProvider> provider;
  std::chrono::milliseconds patience;
  // Questions that it has not come back from, also those that nobody waits for any more: beyond
  // `most_unanswered` it is not asked, so that one that hangs does not collect threads.
  std::shared_ptr<std::atomic<int>> unanswered = std::make_shared<std::atomic<int>>(0);
};
inline constexpr int most_unanswered = 16;

// What is taken of one provider at most.
inline constexpr std::size_t most_facts = 200;

struct GatheredFact {
  std::string provider;  // empty: our own
  RecalledFact recalled;
};

struct Gathered {
  std::vector<GatheredFact> facts;  // by provider, in their order; the best first
  std::vector<LeftFact> left;
  std::vector<std::string> problems;  // a sentence for each provider that gave nothing because of something
};

// `ask.limit` and `ask.min_trust` are what is wanted; a provider hears of them where it takes them.
Gathered gather(const std::vector<AskedProvider>& providers, const RecallAsk& ask, const ChooseRules& rules,
                Deadline deadline);

}  // namespace plimsoll::memory
