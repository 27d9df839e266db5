// Gathers facts from several providers in parallel (S5).
//
// Each provider has its own thread and deadline. One that fails, hangs, returns too much or throws does not
// stop the others: gathering ends at the latest deadline.
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
  // Unanswered requests, including those that are no longer waited for: above `most_unanswered` it is not
  // asked, so that a hanging provider does not accumulate threads.
  std::shared_ptr<std::atomic<int>> unanswered = std::make_shared<std::atomic<int>>(0);
};
inline constexpr int most_unanswered = 16;

// Most facts of one provider.
inline constexpr std::size_t most_facts = 200;

struct GatheredFact {
  std::string provider;  // empty: our own
  RecalledFact recalled;
};

struct Gathered {
  std::vector<GatheredFact> facts;  // by provider, in order; best first
  std::vector<LeftFact> left;
  std::vector<std::string> problems;  // one sentence per failed provider
};

// `ask.limit` and `ask.min_trust` are passed to providers that support them, and applied in any case.
Gathered gather(const std::vector<AskedProvider>& providers, const RecallAsk& ask, const ChooseRules& rules,
                Deadline deadline);

}  // namespace plimsoll::memory
