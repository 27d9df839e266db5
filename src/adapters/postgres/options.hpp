// How a store on PostgreSQL is opened.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/secret.hpp"

namespace plimsoll::postgres {

struct Options {
  base::Secret url{};                     // "postgres://user:password@host:port/database?sslmode=verify-full"
  std::string schema = "plimsoll";        // holds our tables; letters, digits and '_'
  std::size_t connections = 16;           // at most at a time
  std::chrono::milliseconds wait{5'000};  // for a free connection, and to connect
  std::chrono::milliseconds statement{30'000};  // for the reply to one statement
};

}  // namespace plimsoll::postgres
