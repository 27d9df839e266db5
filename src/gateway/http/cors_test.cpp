#include "gateway/http/cors.hpp"

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

TEST(Cors, PagesOfThisMachineAreWelcomeAndOthersAreNot) {
  for (const char* origin : {"", "http://localhost", "http://localhost:3000", "https://LOCALHOST:1",
                             "http://127.0.0.1:8000", "http://[::1]:8000", "http://[::1]"})
    EXPECT_TRUE(is_welcome_origin(origin)) << origin;
  for (const char* origin : {"null", "http://evil.example", "http://localhost.evil.example", "localhost",
                             "http://127.0.0.1.evil.example:80", "http://[::2]", "http://[localhost]",
                             "http://[::1", "://", "http://", "http://evil.example:localhost"})
    EXPECT_FALSE(is_welcome_origin(origin)) << origin;
}

TEST(Cors, APageThatNobodyListedMayNotWrite) {
  const auto why = [](const char* method, const char* origin, const char* host, bool needs_keys = false) {
    ClientRequest request;
    request.method = method;
    request.origin = origin;
    request.host = host;
    request.from_here = true;
    return why_unwelcome({"https://app.example"}, request, needs_keys);
  };
  for (const char* origin : {"", "http://localhost:3000", "http://127.0.0.1:8000", "https://app.example"})
    EXPECT_EQ(why("POST", origin, "127.0.0.1:8000"), "") << origin;
  for (const char* origin : {"http://evil.example", "null", "https://app.example.evil"}) {
    EXPECT_NE(why("POST", origin, "127.0.0.1:8000").find("cors_origins"), std::string::npos) << origin;
    EXPECT_EQ(why("GET", origin, "127.0.0.1:8000"), "") << origin;  // it cannot read the answer
    EXPECT_EQ(why("POST", origin, "127.0.0.1:8000", true), "") << origin;
  }
  EXPECT_EQ(why("POST", "http://192.168.1.5:8000", "192.168.1.5:8000"), "");
  EXPECT_NE(why("POST", "http://192.168.1.6:8000", "192.168.1.5:8000"), "");
}

// DNS rebinding: a foreign name that resolves to 127.0.0.1 is the page's own server for a browser.
TEST(Cors, WhoComesInByLoopbackMustCallUsByANameOfOurs) {
  const auto why = [](const char* host, bool from_here = true, bool needs_keys = false) {
    ClientRequest request;
    request.method = "GET";
    request.host = host;
    request.from_here = from_here;
    return why_unwelcome({}, request, needs_keys);
  };
  for (const char* host : {"", "localhost", "gateway:8000", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000",
                           "::1", "10.0.0.7", "ship.localhost:1", "ship.local", "host.docker.internal:8000"})
    EXPECT_EQ(why(host), "") << host;
  for (const char* host :
       {"evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"})
    EXPECT_NE(why(host).find("plimsoll keys add"), std::string::npos) << host;
  EXPECT_EQ(why("gpu.example:8000", /*from_here=*/false), "");
  EXPECT_EQ(why("gpu.example:8000", true, /*needs_keys=*/true), "");
}

}  // namespace
}  // namespace plimsoll::gateway
