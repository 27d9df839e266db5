#include "gateway/http/content_coding.hpp"

#include <zlib.h>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, GivesBackWhatWasPacked) {
  for (const std::size_t size : {0U, 1U, 32'767U, 32'768U, 65'536U, 100'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(gunzip(gzipped(text), 1'000'000).value(), text) << size;
    EXPECT_EQ(gunzip(gzipped(text), size).value(), text) << size;
  }
  EXPECT_EQ(gunzip(gzipped("a") + gzipped("b"), 10).value(), "ab");
}

TEST(Gunzip, RefusesWhatIsTooLongCutOffOrNotGzip) {
  const std::string packed = gzipped(std::string(10'000'000, ' '));
  EXPECT_LT(packed.size(), 20'000u);
  EXPECT_EQ(gunzip(packed, 1'000'000).error().code, Errc::over_budget);
  const std::string small = gzipped("Ahoy there, all of you");
  for (std::size_t cut = 0; cut < small.size(); ++cut)
    EXPECT_EQ(gunzip(small.substr(0, cut), 1'000).error().code, Errc::bad_input) << cut;
  for (const std::string& wrong : {std::string("{}"), small + "x", small + '\0'})
    EXPECT_EQ(gunzip(wrong, 1'000).error().code, Errc::bad_input) << wrong;
}

TEST(Gunzip, AsksForRoomBeforeItKeepsMore) {
  const std::string packed = gzipped(std::string(10'000'000, ' '));
  std::size_t most = 0;
  const auto has_room = [&](std::size_t bytes) {
    most = bytes;
    return bytes <= 100'000;
  };
  EXPECT_EQ(gunzip(packed, 20'000'000, has_room).error().code, Errc::over_budget);
  EXPECT_LT(most, 200'000U);
}

TEST(CodingOf, KnowsGzipAlone) {
  for (const char* none : {"", " ", "identity"}) EXPECT_EQ(coding_of(none), Coding::none);
  for (const char* gzip : {"gzip", "GZIP ", "x-gzip"}) EXPECT_EQ(coding_of(gzip), Coding::gzip);
  for (const char* other : {"br", "deflate", "gzip, gzip", "zstd"})
    EXPECT_EQ(coding_of(other), Coding::unknown);
}

}  // namespace
}  // namespace plimsoll::gateway
