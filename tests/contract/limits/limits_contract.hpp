// What every LimitStore must do, as tests. An adapter's own test file gives a way to open one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll {

struct LimitsMaker {
  std::string name;
  std::function<Result<std::unique_ptr<LimitStore>>(const std::filesystem::path& folder)> open;
};

class LimitsContract : public testing::TestWithParam<LimitsMaker> {
 protected:
  void SetUp() override;
  LimitGrant take(const LimitWish& wish);
  LimitUsed settle(const LimitShare& share, Tokens used);

  base::TemporaryFolder folder_{"limits"};
  std::unique_ptr<LimitStore> store_;
};

}  // namespace plimsoll
