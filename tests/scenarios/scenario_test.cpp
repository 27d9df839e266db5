#include "scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/paths.hpp"
#include "base/source_dir.hpp"

namespace plimsoll::scenarios {
namespace {

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(base::source_dir() / "tests/scenarios"))
    if (entry.path().extension() == ".scn") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

class Scenarios : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenarios, ComesOutAsWritten) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  const Scenario scenario = read_scenario(text.str());
  if (scenario.given.front().verb == "plan" &&
      !std::filesystem::exists(base::cache_folder(base::current_environment()) / "assets/o200k_base"))
    GTEST_SKIP() << "tokenizers were not fetched: run tools/setup assets";
  EXPECT_EQ(play(scenario), scenario.expected) << GetParam().filename();
}

std::string name_of_file(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of, Scenarios, testing::ValuesIn(files()), name_of_file);

TEST(ScenarioFiles, AreManyAndNamedByTheirRules) {
  EXPECT_GE(files().size(), 120U);
  for (const auto& path : files())
    EXPECT_NE(std::string("bdfskcu").find(path.stem().string()[0]), std::string::npos) << path;
}

TEST(ScenarioFiles, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_THROW(read_scenario("model gpt-4\n"), std::runtime_error);
  EXPECT_THROW(play(read_scenario("dance\n----\nx\n")), std::runtime_error);
  EXPECT_THROW(play(read_scenario("window 10\nask nobody basis=1\n----\nx\n")), std::runtime_error);
  EXPECT_NE(play(read_scenario("window 10\nask answer basis=1\n----\nanswer 2\n")), "answer 2\n");
}

}  // namespace
}  // namespace plimsoll::scenarios
