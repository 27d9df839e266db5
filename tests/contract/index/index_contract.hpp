// What every Index must do, as tests. An adapter's own test file gives a way to open one over a store, as in
// contract/store/store_contract.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "base/testing_store.hpp"
#include "plimsoll/index.hpp"

namespace plimsoll {

struct IndexMaker {
  std::string name;
  std::function<Result<std::unique_ptr<Index>>(Store& store, const IndexInfo& info,
                                               const std::filesystem::path& folder)>
      open;
};

class IndexContract : public testing::TestWithParam<IndexMaker> {
 protected:
  void SetUp() override;
  // Each text is a chunk; its vector has its number in the first place.
  DocumentId add(const std::string& key, const std::vector<std::pair<std::string, float>>& chunks);
  void reopen();
  std::vector<DocumentId> documents(const std::vector<Hit>& hits) const;

  base::TemporaryFolder made_{"index"};
  base::MemoryStore store_;
  std::unique_ptr<Index> index_;
};

}  // namespace plimsoll
