#include "gateway/console/page.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "data/console_files.hpp"
#include "gateway/http/content_coding.hpp"

namespace plimsoll::gateway {
namespace {

TEST(ConsolePage, IsForBrowsersOnly) {
  EXPECT_TRUE(accepts_html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
  EXPECT_TRUE(accepts_html("application/json, Text/HTML ; q=0.5"));
  for (const char* other : {"", "*/*", "application/json", "text/*", "text/html;q=0", "text/htmlx"})
    EXPECT_FALSE(accepts_html(other)) << other;
}

TEST(ConsolePage, IsCompressedForThoseWhoTakeIt) {
  EXPECT_TRUE(accepts_gzip("gzip, deflate, br"));
  EXPECT_TRUE(accepts_gzip("br;q=1, GZIP;q=0.1"));
  for (const char* other : {"", "br", "gzip;q=0", "gzip;q=0.0", "identity"})
    EXPECT_FALSE(accepts_gzip(other)) << other;
}

TEST(ConsolePage, FilesAreInOrderAndWhole) {
  const auto files = data::console_files();
  EXPECT_TRUE(std::ranges::is_sorted(files, {}, &data::EmbeddedFile::path));
  EXPECT_TRUE(std::ranges::count(files, "index.html", &data::EmbeddedFile::path));
  for (const data::EmbeddedFile& file : files) {
    const auto plain = gunzip(file.packed, file.bytes);
    ASSERT_TRUE(plain.has_value()) << file.path;
    EXPECT_EQ(plain->size(), file.bytes) << file.path;
  }
}

// What a browser loads before it shows anything.
TEST(ConsolePage, FirstLoadIsSmall) {
  constexpr std::size_t most = 150'000;
  std::size_t sum = 0;
  for (const data::EmbeddedFile& file : data::console_files()) sum += file.packed.size();
  EXPECT_LE(sum, most);
}

}  // namespace
}  // namespace plimsoll::gateway
