// Any bytes as a query: a class that keeps the rule's promises, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plimsoll/strategy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string query(reinterpret_cast<const char*>(data), size);
  const Task task = classify(query);
  if (task.crisis && task.type != TaskType::rag_critical) std::abort();
  if (task.signal.empty() != (task.type == TaskType::unknown)) std::abort();
  // Earlier text cannot hide a crisis, and a crisis is never stuffed.
  const StrategyDecision decision = context_strategy({.query = query + "\nI want to die", .char_count = 100});
  if (!decision.task.crisis || decision.strategy == Strategy::stuff) std::abort();
  should_prefetch({.context_length = 100, .used_tokens = 90}, query);
  return 0;
}
