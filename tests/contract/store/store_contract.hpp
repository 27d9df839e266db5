// What every Store must do, as tests. An adapter's own test file gives a way to open one:
//
//   INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(StoreMaker{"Sqlite", ...}));
//
// A maker opens the store at a folder; called again with the same folder, it opens what was left there.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll {

struct StoreMaker {
  std::string name;
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder)> open;
};

// A document of one section: each text a chunk of one sentence, with vectors for `dimensions`, one entry an
// embedder.
DocumentWithVectors sample_document(const std::string& key, const std::vector<std::string>& texts,
                                    const std::vector<std::uint32_t>& dimensions);

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override;
  void TearDown() override;
  // As after a restart.
  void reopen();

  base::TemporaryFolder made_{"store"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<Store> store_;
};

}  // namespace plimsoll
