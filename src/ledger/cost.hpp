// The cost of a reply by the list price of its model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plimsoll/models.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// In whole billionths of a US dollar, rounded once per reply. Not known, with the reason: there is no price,
// or the reply does not report something that its price depends on. A server that names no cached tokens has
// read none from a cache.
Cost cost_of(const std::optional<Prices>& prices, const Usage& usage);

// Adds the costs of two replies. Not known if one of them is not. Cost{}, of no reply at all, changes
// nothing.
Cost sum_of(const Cost& a, const Cost& b);

// "$1,234.56", "$0.001234", "$0.000000123": whole cents from a dollar up.
std::string in_dollars(std::int64_t nano_usd);
// A price per million tokens: "2.50", "0.0375".
std::string per_million(std::int64_t price);

}  // namespace plimsoll::ledger
