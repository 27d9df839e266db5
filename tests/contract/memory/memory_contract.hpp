// What every MemoryProvider must do, as tests. An adapter's own test file gives a way to make one, as in
// contract/store/store_contract.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plimsoll/memory.hpp"

namespace plimsoll {

struct MemoryMaker {
  std::string name;
  // Knows these facts, best first.
  std::function<std::shared_ptr<MemoryProvider>(const std::vector<std::string>& texts)> make;
  // Cannot be asked now.
  std::function<std::shared_ptr<MemoryProvider>()> broken;
};

class MemoryContract : public testing::TestWithParam<MemoryMaker> {};

}  // namespace plimsoll
