#include "gateway/cors.hpp"

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

using Origins = std::vector<std::string>;

std::string allowed(const Origins& origins, const std::string& origin) {
  ClientRequest request;
  request.origin = origin;
  for (const HttpHeader& header : cors_headers(origins, request))
    if (header.name == "Access-Control-Allow-Origin") return header.value;
  return "";
}

TEST(Cors, ReadsOrigins) {
  EXPECT_EQ(*read_origins({"https://App.example/", "http://localhost:3000", "*"}),
            (Origins{"https://app.example", "http://localhost:3000", "*"}));
  for (const char* wrong : {"app.example", "https://", "https://app.example/page", "https://*.example",
                            "null", "", "https://ann@app.example"}) {
    const auto read = read_origins({wrong});
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, Errc::bad_setting);
  }
}

TEST(Cors, AllowsThoseThatAreListedAlone) {
  EXPECT_EQ(allowed({}, "https://app.example"), "");
  const Origins origins{"https://app.example"};
  EXPECT_EQ(allowed(origins, "https://app.example"), "https://app.example");
  EXPECT_EQ(allowed(origins, ""), "");
  for (const char* other :
       {"https://app.example.evil", "http://app.example", "https://app.example:8443", "null"})
    EXPECT_EQ(allowed(origins, other), "") << other;
  EXPECT_EQ(allowed({"*"}, "https://any.where"), "https://any.where");
}

TEST(Cors, AnswersWithTheHeadersThatWereAskedForUnlessTheyAreOdd) {
  ClientRequest request;
  request.preflight_headers = "authorization,x-stainless-os";
  EXPECT_EQ(preflight_headers(request)[1].value, "authorization,x-stainless-os");
  request.preflight_headers = "a\x01: b";
  EXPECT_NE(preflight_headers(request)[1].value.find("Authorization"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::gateway
