// Searches our own facts, and offers them as a memory provider.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memory/search.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

// Creates the embedder on first use; on an error or if null, only keywords are searched.
using FindEmbedder = std::function<Result<Embedder*>()>;

struct OwnSearch {
  std::vector<RecalledFact> facts;  // best first
  std::vector<std::string> notes;   // why only keywords were searched
};

// Thread-safe. Store and embedder must outlive it.
class OwnFacts {
 public:
  OwnFacts(FactStore& store, FindEmbedder embedder) : store_(store), embedder_(std::move(embedder)) {}

  // `all`: also unrelated facts, after the others.
  Result<OwnSearch> search(const FactScope& scope, std::string_view query, std::size_t limit, bool all,
                           Deadline deadline);
  // Returns the vector of a text to store; empty if there is no embedder, with the reason in `why`.
  FactVector vector_of(std::string_view text, Deadline deadline, std::string& why);

  FactStore& store() { return store_; }

 private:
  // Computes missing vectors of facts that were added without an embedder.
  void fill_in(std::vector<HeldFact>& held, Embedder& embedder, Deadline deadline);

  FactStore& store_;
  FindEmbedder embedder_;
};

// The facts must outlive it.
std::shared_ptr<MemoryProvider> make_own_provider(OwnFacts& facts);

}  // namespace plimsoll::memory
