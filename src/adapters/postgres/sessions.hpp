// The SessionStore port over PostgreSQL.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::postgres {

Result<std::unique_ptr<SessionStore>> open_sessions(const Options& options);

}  // namespace plimsoll::postgres
