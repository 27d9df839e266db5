// plan_request for a request that is already divided into parts.
#pragma once

#include "engine/plan/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

Result<Plan> plan_parts(const RequestParts& parts, std::string_view model, const PlanOptions& options,
                        const PlanModels& models);

}  // namespace plimsoll::engine
