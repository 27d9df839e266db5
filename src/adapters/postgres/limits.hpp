// The LimitStore port over PostgreSQL: limits that hold for all gateways together.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::postgres {

// The requests and tokens of a minute are counted by the second, on the server's clock: in no 60 s does a key
// take more than its limit, and what was taken is free again after 60 to 61 s. What a gateway that is killed
// had reserved counts as used until the day ends.
Result<std::unique_ptr<LimitStore>> open_limits(const Options& options);

}  // namespace plimsoll::postgres
