// Wires memories to the store, the embedder and the providers of the settings.
#pragma once

#include <functional>
#include <memory>

#include "base/settings.hpp"
#include "documents.hpp"
#include "engine/memories.hpp"
#include "engine/recall.hpp"

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

  // Called before traces are searched for what is to be forgotten.
  void before_traces(std::function<void()> call) { *before_traces_ = std::move(call); }

  engine::Memories& memories() { return memories_; }
  const engine::Recall& recall() const { return recall_; }

 private:
  ServedMemory(const base::Settings& settings, Documents& documents, std::unique_ptr<FactStore> store,
               std::shared_ptr<std::function<void()>> before_traces);

  std::shared_ptr<std::function<void()>> before_traces_;
  std::unique_ptr<FactStore> store_;
  engine::Memories memories_;
  engine::Recall recall_;
};

}  // namespace plimsoll
