// The FactStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "plimsoll/memory.hpp"

namespace plimsoll::sqlite {

struct FactsOptions {
  bool create = true;  // false: not_found where there is no file
  // Called between the deletion of facts and the search of traces for their words: whoever has traces to
  // write that tell of them writes them now.
  std::function<void()> before_traces{};
};

// Folders on the way are made; a file that may only be read is opened for reading. What was kept survives a
// power cut too.
Result<std::unique_ptr<FactStore>> open_facts(const std::filesystem::path& file, FactsOptions options = {});

}  // namespace plimsoll::sqlite
