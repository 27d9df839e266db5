// For tests of HTTP clients.
#pragma once

#include <chrono>
#include <string_view>

#include <gtest/gtest.h>

#include "adapters/http/loopback_server.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::adapters {

// Sanitizers and a busy machine are slow; what is tested is that nothing waits for ever.
constexpr auto slack = std::chrono::seconds(2);

template <typename T>
void expect_error(const Result<T>& result, Errc code, std::string_view words) {
  ASSERT_FALSE(result) << "no error, but one with: " << words;
  EXPECT_EQ(name_of(result.error().code), name_of(code)) << result.error().what;
  EXPECT_NE(result.error().what.find(words), std::string::npos) << result.error().what;
}

// Never answers a request that it has read.
inline void stall(Connection& connection) {
  connection.read();
  connection.wait_for_close();
}

}  // namespace plimsoll::adapters
