#include "memory/memory_settings.hpp"

#include <array>

namespace plimsoll::memory {

std::span<const base::Setting> memory_settings() {
  static const std::array declared{
      base::Setting{"recall_memories", "", base::Flag{&MemorySettings::recall_memories},
                    "Add stored memories to every chat; false: only if a request has plimsoll.memory."},
      base::Setting{
          "memory_providers", "", base::Names{&MemorySettings::memory_providers},
          "External memory providers, each as NAME=URL; all are queried in parallel (docs/memory.md)."},
      base::Setting{"memory_timeout_seconds", "",
                    base::Real{&MemorySettings::memory_timeout_seconds, 0.05, 60},
                    "Time limit in seconds for each memory provider."},
      base::Setting{"memory_min_importance", "", base::Real{&MemorySettings::memory_min_importance, 0.0, 1.0},
                    "Plimsoll's own memories are added to a request if their importance is above this."},
      base::Setting{
          "base_min_trust", "", base::Real{&MemorySettings::base_min_trust, 0.0, 1.0},
          "Lowest trust of memories at medium window pressure; it is 0.2 at low and 0.5 at high pressure."},
      base::Setting{
          "memory_max_age_days", "", base::Whole{&MemorySettings::memory_max_age_days, 0, 36'500},
          "Plimsoll's own memories are added to a request for this many days after they were last stated "
          "or useful; 0: always."},
      base::Setting{"max_memories", "", base::Whole{&MemorySettings::max_memories, 1, 1'000'000},
                    "Most memories kept per owner."},
      base::Setting{
          "extract_memories", "", base::Flag{&MemorySettings::extract_memories},
          "After each answer of /chat/message, ask the model which facts to remember; false: store nothing "
          "automatically."},
  };
  return declared;
}

}  // namespace plimsoll::memory
