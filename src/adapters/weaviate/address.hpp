// The URL of a Weaviate server: its nodes, and what must not be shown.
#pragma once

#include <string>
#include <vector>

#include "base/secret.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::weaviate {

struct Address {
  std::vector<std::string> nodes;  // "http://host:8080"; at least one
  std::string shown;               // "weaviate://host:8080,other:8080", without the key
  base::Secret key{};              // empty: none
  int replication = 1;             // copies of each new collection
  int shards = 1;                  // parts of each new collection
};

// Reads weaviate://[KEY@]HOST[:PORT][,HOST[:PORT]...][?replication=N][&shards=N]; weaviates:// for TLS. The
// key may be percent-encoded. bad_setting: not such a URL; the error does not repeat it.
Result<Address> read_address(const base::Secret& url);

}  // namespace plimsoll::weaviate
