// Connects memories to the store, the embedder and the configured providers.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "engine/evidence/memories.hpp"
#include "engine/evidence/recall.hpp"
#include "index/documents.hpp"

namespace plimsoll {

// Returns the built-in embedder, created on first use; null if new indexes have no embedder either.
memory::FindEmbedder memory_embedder(const config::Settings& settings, Documents& documents);

// Settings and documents must outlive it.
class ServedMemory {
 public:
  // Fails with bad_setting if memory_providers is invalid.
  static Result<std::unique_ptr<ServedMemory>> open(const config::Settings& settings, Documents& documents);
  ServedMemory(const ServedMemory&) = delete;
  ServedMemory& operator=(const ServedMemory&) = delete;
  // Waits until no search uses the store.
  ~ServedMemory();

  engine::Memories& memories() { return memories_; }
  const engine::Recall& recall() const { return recall_; }

 private:
  ServedMemory(const config::Settings& settings, Documents& documents, std::unique_ptr<FactStore> store);

  std::unique_ptr<FactStore> store_;
  engine::Memories memories_;
  engine::Recall recall_;
};

}  // namespace plimsoll
