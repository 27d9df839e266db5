#include "memory/reasoning.hpp"

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

TEST(WithoutReasoning, TakesThoughtsOut) {
  EXPECT_EQ(without_reasoning("<think>secret</think>\n\nIt is 9."), "It is 9.");
  EXPECT_EQ(without_reasoning("It <THINKING>a <think>b</think> c</THINKING>is 9."), "It \nis 9.");
  EXPECT_EQ(without_reasoning("It is <think>never closed"), "It is");
  EXPECT_EQ(without_reasoning("opened by the template</think> It is 9."), "It is 9.");
  EXPECT_EQ(without_reasoning("<reasoning depth=\"2\">x</reasoning>9"), "9");
}

TEST(WithoutReasoning, LetsWhatIsLeftMakeNoMarkOfItsOwn) {
  EXPECT_EQ(without_reasoning("<th<think>x</think>ink>secret"), "<th\nink>secret");
  const std::string far = "<think " + std::string(60, 'a');
  EXPECT_EQ(without_reasoning(far + "<reasoning>x</reasoning>>secret"), far + "\n>secret");
}

TEST(WithoutReasoning, LeavesTheRestAsItIs) {
  EXPECT_EQ(without_reasoning("a < b, <b>bold</b>, <thinker>, <think"),
            "a < b, <b>bold</b>, <thinker>, <think");
  EXPECT_EQ(without_reasoning(""), "");
}

}  // namespace
}  // namespace plimsoll::memory
