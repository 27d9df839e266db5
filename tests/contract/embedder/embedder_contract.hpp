// What every Embedder must do, as tests. An adapter's own test file gives a way to make one, as in
// contract/store/store_contract.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "plimsoll/embedder.hpp"

namespace plimsoll {

struct EmbedderMaker {
  std::string name;
  std::function<Result<std::shared_ptr<Embedder>>()> make;
};

class EmbedderContract : public testing::TestWithParam<EmbedderMaker> {
 protected:
  void SetUp() override;
  std::vector<float> embedded(std::span<const std::string_view> texts);

  std::shared_ptr<Embedder> embedder_;
};

}  // namespace plimsoll
