// The tables of a server for copying them into another store, or another into them.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "base/copy/copy_tables.hpp"

namespace plimsoll::postgres {

Result<std::unique_ptr<base::TableRows>> open_tables(const Options& options);

}  // namespace plimsoll::postgres
