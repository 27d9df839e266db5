// What every FactStore must do, as tests. An adapter's own test file gives a way to open one, as in
// contract/store/store_contract.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll {

struct FactsMaker {
  std::string name;
  std::function<Result<std::unique_ptr<FactStore>>(const std::filesystem::path& folder)> open;
};

class FactsContract : public testing::TestWithParam<FactsMaker> {
 protected:
  void SetUp() override { reopen(); }
  // As after a restart.
  void reopen();
  Fact keep(std::string id, std::string text, std::string owner = "local", std::string session = {},
            const FactVector& vector = {});
  std::set<std::string> seen(const FactScope& scope);

  base::TemporaryFolder made_{"facts"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<FactStore> store_;
};

}  // namespace plimsoll
