#include "adapters/http/body_frame.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "adapters/http/proxies.hpp"

namespace plimsoll::adapters {
namespace {

struct Unpacked {
  std::string body;
  std::string rest;
  bool ended = false;
  bool broken = false;
};

Unpacked unpack(BodyFrame frame, std::string bytes, std::size_t step) {
  Unpacked unpacked;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min(step, bytes.size() - at);
    const auto taken = frame.take({bytes.data() + at, size});
    unpacked.body.append(bytes, at, taken.body);
    at += taken.used;
    if (taken.used < size) {
      unpacked.rest = bytes.substr(at);
      break;
    }
  }
  unpacked.ended = frame.has_ended();
  unpacked.broken = frame.is_broken();
  return unpacked;
}

TEST(BodyFrame, FindsTheSameBodyHoweverItsBytesArrive) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string body;
    std::string packed;
    for (std::size_t chunks = random() % 20; chunks > 0; --chunks) {
      const std::string chunk(1 + random() % 300, static_cast<char>('a' + random() % 26));
      char size[16];
      std::snprintf(size, sizeof size, random() % 2 == 0 ? "%zx" : "%zX", chunk.size());
      packed += std::string(size) + (random() % 3 == 0 ? ";a=b" : "") + "\r\n" + chunk + "\r\n";
      body += chunk;
    }
    packed += random() % 2 == 0 ? "0\r\n\r\n" : "000\r\nA: b\r\nC: d\r\n\r\n";
    for (const std::size_t step : {std::size_t{1}, 1 + random() % 50, packed.size() + 4}) {
      const Unpacked unpacked = unpack(BodyFrame::chunked(), packed + "next", step);
      EXPECT_EQ(unpacked.body, body);
      EXPECT_TRUE(unpacked.ended && !unpacked.broken);
      if (step > packed.size()) {
        EXPECT_EQ(unpacked.rest, "next");
      }
    }
  }
}

TEST(BodyFrame, BreaksOffWhatGoesOnBesideTheBody) {
  for (const std::string& begin : {std::string("1;"), std::string("0\r\nX: "), std::string("0")}) {
    const char filler = begin == "0" ? '0' : 'x';
    EXPECT_TRUE(unpack(BodyFrame::chunked(), begin + std::string(100'000, filler), 1000).broken);
  }
}

TEST(BodyFrame, EndsASizedBodyWhereItEnds) {
  const Unpacked unpacked = unpack(BodyFrame::sized(5), "12345HTTP/1.1", 100);
  EXPECT_EQ(unpacked.body, "12345");
  EXPECT_EQ(unpacked.rest, "HTTP/1.1");
  EXPECT_TRUE(unpacked.ended);
  EXPECT_TRUE(unpack(BodyFrame::sized(0), "", 1).ended);
}

Proxies proxies_of(std::string variable, std::string value, std::string excepted = {}) {
  return Proxies([&](const char* name) {
    if (name == variable) return value;
    return std::string(name) == "no_proxy" ? excepted : std::string();
  });
}

std::string towards(const Proxies& proxies, std::string_view url) {
  const auto proxy = proxies.towards(*read_origin(url));
  if (!proxy) return proxy.error().what;
  return *proxy ? (*proxy)->shown() : "direct";
}

TEST(Proxies, AreReadAsCurlReadsThem) {
  EXPECT_EQ(towards(proxies_of("http_proxy", "p:3128"), "http://far"), "http://p:3128");
  EXPECT_EQ(towards(proxies_of("http_proxy", "p:3128"), "https://far"), "direct");
  EXPECT_EQ(towards(proxies_of("HTTP_PROXY", "p:3128"), "http://far"), "direct");
  EXPECT_EQ(towards(proxies_of("HTTPS_PROXY", "http://p"), "https://far"), "http://p");
  EXPECT_EQ(towards(proxies_of("all_proxy", "p"), "http://far"), "http://p");
  EXPECT_NE(towards(proxies_of("all_proxy", "socks5://p"), "http://far").find("cannot be used"),
            std::string::npos);
  for (const char* near : {"http://localhost", "http://127.9.9.9", "http://[::1]:80", "http://a.localhost:1",
                           "http://LocalHost."})
    EXPECT_EQ(towards(proxies_of("all_proxy", "p"), near), "direct") << near;
}

TEST(Proxies, AreLeftOutWhereTheEnvironmentSaysSo) {
  const auto excepted = [](const char* list, std::string_view url) {
    return towards(proxies_of("all_proxy", "p", list), url) == "direct";
  };
  EXPECT_TRUE(excepted("*", "http://far"));
  EXPECT_TRUE(excepted("a.example, .b.example", "http://x.b.example"));
  EXPECT_TRUE(excepted("b.example", "http://b.example:8000"));
  EXPECT_FALSE(excepted("b.example", "http://bb.example"));
  EXPECT_TRUE(excepted("10.0.0.0/8", "http://10.1.2.3"));
  EXPECT_FALSE(excepted("10.0.0.0/8", "http://11.1.2.3"));
  EXPECT_TRUE(excepted("fd00::/8", "http://[fd12::1]"));
  EXPECT_TRUE(excepted("192.168.1.1", "http://192.168.1.1"));
}

}  // namespace
}  // namespace plimsoll::adapters
