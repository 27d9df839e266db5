// The store of documents where `store` names a PostgreSQL server, which does not hold documents yet.
#pragma once

#include <memory>

#include "plimsoll/store.hpp"

namespace plimsoll {

// Has no indexes; whatever names one, or adds one, fails with `unsupported`.
std::unique_ptr<Store> no_documents();

}  // namespace plimsoll
