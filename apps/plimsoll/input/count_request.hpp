// plimsoll count --chat: counts a whole request, part by part.
#pragma once

#include "input/count_choice.hpp"

namespace plimsoll {

Result<void> count_request(const CountChoice& chosen, const CountOptions& options);

}  // namespace plimsoll
