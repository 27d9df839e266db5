// Wires memories to the store, the embedder and the providers of the settings.
#pragma once

#include <memory>

#include "base/settings/settings.hpp"
#include "engine/evidence/memories.hpp"
#include "engine/evidence/recall.hpp"
#include "index/documents.hpp"

namespace plimsoll {

// The built-in embedder, made at its first use; null where new indexes have none either.
memory::FindEmbedder memory_embedder(const base::Settings& settings, Documents& documents);

// Settings and documents outlive it.
class ServedMemory {
 public:
  // bad_input where the setting memory_providers is wrong.
  static Result<std::unique_ptr<ServedMemory>> open(const base::Settings& settings, Documents& documents);
  ServedMemory(const ServedMemory&) = delete;
  ServedMemory& operator=(const ServedMemory&) = delete;
  // Waits until nobody searches the store any more.
  ~ServedMemory();

  engine::Memories& memories() { return memories_; }
  const engine::Recall& recall() const { return recall_; }

 private:
  ServedMemory(const base::Settings& settings, Documents& documents, std::unique_ptr<FactStore> store);

  std::unique_ptr<FactStore> store_;
  engine::Memories memories_;
  engine::Recall recall_;
};

}  // namespace plimsoll
