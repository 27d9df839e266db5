#include "base/text/trace_context.hpp"

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

constexpr std::string_view trace = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7";

std::string parent_with(std::string_view version = "00", std::string_view flags = "01",
                        std::string_view rest = "") {
  return std::string(version) + "-" + std::string(trace) + "-" + std::string(span) + "-" +
         std::string(flags) + std::string(rest);
}

TEST(TraceContext, IsReadAndWrittenBack) {
  const TraceContext context = read_trace_context(parent_with(), "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(context.trace_id, trace);
  EXPECT_EQ(context.span_id, span);
  EXPECT_TRUE(context.is_sampled());
  EXPECT_EQ(context.state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(traceparent(context), parent_with());
  EXPECT_FALSE(read_trace_context(parent_with("00", "00"), "").is_sampled());
}

TEST(TraceContext, KeepsTheFlagsThatItKnows) {
  EXPECT_EQ(read_trace_context(parent_with("00", "ff"), "").flags, 3);
  EXPECT_EQ(read_trace_context(parent_with("00", "02"), "").flags, 2);
}

TEST(TraceContext, ReadsWhatALaterVersionAdds) {
  EXPECT_TRUE(read_trace_context(parent_with("cc"), "").is_known());
  EXPECT_TRUE(read_trace_context(parent_with("cc", "01", "-what-comes-later"), "").is_known());
  EXPECT_FALSE(read_trace_context(parent_with("cc", "01", ".later"), "").is_known());
  EXPECT_EQ(traceparent(read_trace_context(parent_with("cc", "01", "-later"), "")), parent_with());
}

TEST(TraceContext, IsNoneIfItIsNotWellFormed) {
  std::string capital = parent_with(), no_trace = parent_with(), no_span = parent_with(),
              no_hyphen = parent_with();
  capital[4] = 'B';
  no_trace.replace(3, 32, 32, '0');
  no_span.replace(36, 16, 16, '0');
  no_hyphen[35] = '_';
  for (const std::string& parent :
       {std::string(), std::string("00"), capital, no_trace, no_span, no_hyphen, parent_with("ff"),
        parent_with("0x"), parent_with("00", "1x"), parent_with("00", "01", "-more"),
        parent_with() + "," + parent_with(), parent_with().substr(0, 54)})
    EXPECT_EQ(read_trace_context(parent, "a=1"), TraceContext{}) << parent;
}

TEST(TraceContext, LeavesOutAStateThatIsNotWellFormed) {
  const auto state_of = [](std::string_view state) { return read_trace_context(parent_with(), state).state; };
  for (const std::string_view good : {"a=1", "a=1 , b=2", "a=1,,b=2", "fw529a3039@dt=FfAAAA", "1a@b=x",
                                      "a_-*/=!\"#$%&'()*+-./:;<>?@[]^_`{|}~"})
    EXPECT_EQ(state_of(good), good);
  for (const std::string_view bad : {"a", "=1", "a=", "A=1", "1a=x", "a=1,a=2", "a=b=c", "a=\x7f", "a@=1",
                                     "@a=1", "a@1b=1", "a b=1", "a@b@c=1"})
    EXPECT_EQ(state_of(bad), "") << bad;
  std::string members;
  for (int i = 0; i < 32; ++i) members += "k" + std::to_string(i) + "=v,";
  members.pop_back();
  EXPECT_EQ(state_of(members), members);
  EXPECT_EQ(state_of(members + ",one=more"), "");
  EXPECT_EQ(state_of("a=" + std::string(257, 'x')), "");
}

TEST(TraceContext, MakesIdsThatItReads) {
  const TraceContext made{new_trace_id(), new_span_id(), 1, {}};
  EXPECT_EQ(read_trace_context(traceparent(made), ""), made);
  EXPECT_NE(new_trace_id(), new_trace_id());
  EXPECT_NE(new_span_id(), new_span_id());
}

TEST(TraceContext, DrawsAShareOfTheTraces) {
  int drawn = 0;
  for (int i = 0; i < 4'000; ++i) drawn += is_in_share(new_trace_id(), 0.25) ? 1 : 0;
  EXPECT_NEAR(drawn, 1'000, 200);  // seven standard deviations
  EXPECT_TRUE(is_in_share(trace, 1));
  EXPECT_FALSE(is_in_share(trace, 0));
}

}  // namespace
}  // namespace plimsoll::base
