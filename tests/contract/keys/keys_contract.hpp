// What every KeyStore must do, as tests, with the TraceStore that writes usage for it. An adapter's own test
// file gives a way to open both, as in contract/store/store_contract.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll {

struct KeysMaker {
  std::string name;
  std::function<Result<std::unique_ptr<KeyStore>>(const std::filesystem::path& folder)> open;
  std::function<Result<std::unique_ptr<TraceStore>>(const std::filesystem::path& folder)> open_traces;
};

class KeysContract : public testing::TestWithParam<KeysMaker> {
 protected:
  void SetUp() override;
  void TearDown() override;
  // As after a restart.
  void reopen();
  void use(const std::vector<UsedTokens>& used);
  // "group/section tokens requests" of each sum.
  std::vector<std::string> sums(const UsageWish& wish);

  base::TemporaryFolder made_{"keys"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<KeyStore> store_;
  std::unique_ptr<TraceStore> traces_;
};

}  // namespace plimsoll
