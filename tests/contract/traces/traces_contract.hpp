// What every TraceStore must do, as tests. An adapter's own test file gives a way to open one, as in
// contract/store/store_contract.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {

struct TracesMaker {
  std::string name;
  std::function<Result<std::unique_ptr<TraceStore>>(const std::filesystem::path& folder)> open;
};

// Of just now.
Trace sample_trace(const std::string& id, const std::string& session = "");

class TracesContract : public testing::TestWithParam<TracesMaker> {
 protected:
  void SetUp() override;
  void TearDown() override;
  // As after a restart.
  void reopen();
  // Keeps them within `limits`, or fails the test.
  void keep(const std::vector<Trace>& traces, const TraceLimits& limits = {});
  std::vector<std::string> ids(const TraceStore::Wanted& wanted = {}, std::string_view owner = "local");

  base::TemporaryFolder made_{"traces"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<TraceStore> store_;
};

}  // namespace plimsoll
