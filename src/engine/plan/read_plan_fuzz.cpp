// Any bytes as a plan: an error with a message, or a plan that round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "engine/plan/read_plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = plimsoll::engine::read_plan({reinterpret_cast<const char*>(data), size});
  if (!plan) return plan.error().what.empty() ? std::abort(), 1 : 0;
  const std::string text = plimsoll::plan_json(*plan);
  const auto again = plimsoll::engine::read_plan(text);
  if (!again || plimsoll::plan_json(*again) != text) std::abort();
  return 0;
}
