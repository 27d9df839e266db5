// plan_request for a request that is already divided into parts, with what is added to it.
#pragma once

#include "chat/chat_request.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

Result<Plan> plan_parts(const chat::ChatRequest& parts, const chat::Additions& with, std::string_view model,
                        const PlanOptions& options, const PlanModels& models);

}  // namespace plimsoll::engine
