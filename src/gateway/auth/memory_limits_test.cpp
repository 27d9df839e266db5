#include "gateway/auth/memory_limits.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "contract/limits/limits_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Memory, LimitsContract,
                         testing::Values(LimitsMaker{
                             "Memory",
                             [](const std::filesystem::path&) -> Result<std::unique_ptr<LimitStore>> {
                               return std::make_unique<gateway::MemoryLimits>(base::utc_ms);
                             }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
