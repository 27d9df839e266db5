// The server of the tests: tools/postgres.py starts one and sets PLIMSOLL_TEST_POSTGRES to its URL.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "adapters/postgres/options.hpp"
#include "base/sha256.hpp"

namespace plimsoll::postgres {

inline const char* test_server() {
  return std::getenv("PLIMSOLL_TEST_POSTGRES");
}
constexpr const char* no_server =
    "PLIMSOLL_TEST_POSTGRES is not the URL of a server; tools/postgres.py starts one";

// A store of its own for each folder.
inline Options test_options(const std::filesystem::path& folder) {
  Options options;
  options.url = base::Secret(test_server());
  options.schema = "test_" + base::sha256_hex(folder.string()).substr(0, 24);
  return options;
}

}  // namespace plimsoll::postgres
