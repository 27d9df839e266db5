// Somebody else's memory, asked over HTTP.
//
//   POST URL  {"query": "...", "limit": 5, "min_trust": 0.3, "owner": "local", "session": ""}
//   200       {"memories": [{"id": "7", "text": "...", "importance": 0.8, "trust": 0.9, "at":
//   1700000000000}]}
//
// Only `text` must be there; `at` is UTC in milliseconds. The best come first.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::memory_http {

struct Options {
  std::string name;  // its facts are labelled with it
  std::string url;
  std::string shown;   // the same without a password, for messages
  base::Secret key{};  // may be empty
};

// The client bounds what a reply may hold, and lives as long as the provider.
std::shared_ptr<MemoryProvider> make_provider(std::shared_ptr<HttpClient> http, Options options);

// upstream_failed says what is wrong with the body of a reply.
Result<std::vector<RecalledFact>> read_memories(std::string_view body);

}  // namespace plimsoll::memory_http
