#include "gateway/http/request_head.hpp"

#include <string>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

constexpr std::string_view plain = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(HeadLength, IsFoundHoweverTheBytesArrive) {
  const std::string arrived = std::string(plain) + "\nthe body may hold anything";
  for (std::size_t step = 1; step <= arrived.size(); ++step) {
    std::size_t scanned = 0, length = 0;
    for (std::size_t end = step; length == 0 && end < arrived.size() + step; end += step) {
      const auto found = head_length(std::string_view(arrived).substr(0, end), scanned);
      ASSERT_TRUE(found) << found.error().what;
      length = *found;
    }
    EXPECT_EQ(length, plain.size()) << step;
  }
}

TEST(HeadLength, RefusesControlCharactersAndLoneLineEnds) {
  using namespace std::string_view_literals;
  for (const std::string_view bad : {"GET / HTTP/1.1\nHost: x\n\n"sv, "GET / HTTP/1.1\rHost"sv,
                                     "GET /\0 HTTP"sv, "\x16\x03\x01"sv, "a\x7f"sv}) {
    std::size_t scanned = 0;
    EXPECT_FALSE(head_length(bad, scanned)) << bad;
  }
}

TEST(CheckHead, AcceptsWhatHasOneMeaning) {
  for (const std::string fields : {"Host: x\r\n", "host:\r\nContent-Length: 0\r\n", "HOST: [::1]:80\r\n",
                                   "Host: x\r\nTransfer-Encoding: \tChunked \r\n"})
    EXPECT_TRUE(check_head("POST / HTTP/1.1\r\n" + fields + "\r\n")) << fields;
  EXPECT_TRUE(check_head("GET / HTTP/1.0\r\n\r\n"));
}

TEST(CheckHead, RefusesWhatCouldBeReadInTwoWays) {
  for (const std::string fields :
       {"", "Host: a\r\nHost: a\r\n", "Host: a b\r\n", "Host: a\r\n b\r\n", "Host : a\r\n",
        "Host: a\r\n: b\r\n", "Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
        "Host: a\r\nContent-Length: +5\r\n", "Host: a\r\nContent-Length: 99999999999999999999\r\n",
        "Host: a\r\nContent-Length:\r\n", "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Host: a\r\nTransfer-Encoding: chunked, chunked\r\n", "Host: a\r\nTransfer-Encoding: gzip\r\n"})
    EXPECT_FALSE(check_head("POST / HTTP/1.1\r\n" + fields + "\r\n")) << fields;
  EXPECT_FALSE(check_head("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"));
}

}  // namespace
}  // namespace plimsoll::gateway
