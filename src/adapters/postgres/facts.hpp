// The FactStore port over PostgreSQL.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::postgres {

// What is forgotten is in no row any more; when its bytes leave the server's files and its log is up to the
// server.
Result<std::unique_ptr<FactStore>> open_facts(const Options& options);

}  // namespace plimsoll::postgres
