// The tables, and how those of an earlier version come up to date.
#pragma once

#include <string>

#include "adapters/postgres/connection.hpp"

namespace plimsoll::postgres {

inline constexpr std::int64_t schema_version = 3;

// Makes or updates the tables of a schema; `lock` keeps other gateways out meanwhile. unsupported: a newer
// program made them.
Result<void> migrate(Connection& connection, const std::string& schema, std::int64_t lock);

}  // namespace plimsoll::postgres
