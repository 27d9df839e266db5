// For the tests of readers.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ingest/testing.hpp"

namespace plimsoll::ingest {

// Reads what must be readable, and checks the invariants of what was read.
inline ReadDocument read(std::string_view bytes, std::string_view name) {
  auto read = read_document(bytes, name, {});
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().what);
  if (!read) return {};
  EXPECT_EQ(read_fault(*read, bytes), "") << name;
  return *std::move(read);
}

inline std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  all.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

}  // namespace plimsoll::ingest
