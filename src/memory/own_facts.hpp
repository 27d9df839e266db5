// Our own facts: searched, and as one of the providers that a request asks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memory/search.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

// Made at its first use; an error says why there is none, and then words alone are searched. Null: likewise.
using FindEmbedder = std::function<Result<Embedder*>()>;

struct OwnSearch {
  std::vector<RecalledFact> facts;  // the best first
  std::vector<std::string> notes;   // why it is by words alone
};

// Store and embedder outlive it. Any thread may call at any time.
class OwnFacts {
 public:
  OwnFacts(FactStore& store, FindEmbedder embedder) : store_(store), embedder_(std::move(embedder)) {}

  // `all`: also those that have nothing to do with the query, behind the others.
  Result<OwnSearch> search(const FactScope& scope, std::string_view query, std::size_t limit, bool all,
                           Deadline deadline);
  // Of a text that is to be kept; empty where there is no embedder, and `why` says so.
  FactVector vector_of(std::string_view text, Deadline deadline, std::string& why);

  FactStore& store() { return store_; }

 private:
  // Facts that were added while there was no embedder get their vectors when there is one.
  void fill_in(std::vector<HeldFact>& held, Embedder& embedder, Deadline deadline);

  FactStore& store_;
  FindEmbedder embedder_;
};

// The facts live as long as it does.
std::shared_ptr<MemoryProvider> make_own_provider(OwnFacts& facts);

}  // namespace plimsoll::memory
