// The KeyStore port over PostgreSQL.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::postgres {

Result<std::unique_ptr<KeyStore>> open_keys(const Options& options);

}  // namespace plimsoll::postgres
