// What every SessionStore must do, as tests. An adapter's own test file gives a way to open one, as in
// contract/store/store_contract.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll {

struct SessionsMaker {
  std::string name;
  std::function<Result<std::unique_ptr<SessionStore>>(const std::filesystem::path& folder)> open;
};

class SessionsContract : public testing::TestWithParam<SessionsMaker> {
 protected:
  void SetUp() override;
  void TearDown() override;
  // As after a restart.
  void reopen();
  // A question and its answer.
  void say(const std::string& session, const std::string& question, const SessionLimits& limits = {},
           std::string_view owner = "local");
  // "user: Ahoy", ...
  std::vector<std::string> said(const std::string& session, std::string_view owner = "local");
  std::vector<std::string> names(std::string_view owner = "local");
  plimsoll::Run begin(const std::string& id, std::int64_t most = 100);

  base::TemporaryFolder made_{"sessions"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<SessionStore> store_;
};

}  // namespace plimsoll
