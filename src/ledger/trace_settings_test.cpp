#include "ledger/trace_settings.hpp"

#include <gtest/gtest.h>

namespace plimsoll::ledger {
namespace {

TEST(TraceSettings, ReadHeadersForTheCollector) {
  const auto headers = read_otlp_headers(base::Secret("Authorization=Basic dXNlcjpwYXNz==, x-team = ships,"));
  ASSERT_TRUE(headers);
  ASSERT_EQ(headers->size(), 2U);
  EXPECT_EQ((*headers)[0].name, "Authorization");
  EXPECT_EQ((*headers)[0].value, "Basic dXNlcjpwYXNz==");
  EXPECT_EQ((*headers)[1].name, "x-team");
  EXPECT_EQ((*headers)[1].value, "ships");
  EXPECT_TRUE(read_otlp_headers(base::Secret(""))->empty());
}

TEST(TraceSettings, NameTheHeaderThatIsWrongWithoutShowingIt) {
  for (const char* wrong : {"x-team=ships,s3cret", "x-team=ships,=s3cret"}) {
    const auto headers = read_otlp_headers(base::Secret(wrong));
    ASSERT_FALSE(headers) << wrong;
    EXPECT_NE(headers.error().what.find("entry 2"), std::string::npos);
    EXPECT_EQ(headers.error().what.find("s3cret"), std::string::npos);
  }
}

TEST(TraceSettings, AddThePathOfSpansToAnAddress) {
  EXPECT_EQ(spans_url("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(spans_url("http://127.0.0.1:4318/"), "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(spans_url("https://o.example/otlp/v1/traces"), "https://o.example/otlp/v1/traces");
}

}  // namespace
}  // namespace plimsoll::ledger
