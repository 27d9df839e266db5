#include "base/weights/e5_file.hpp"

#include <gtest/gtest.h>

#include "base/weights/testing_e5.hpp"

namespace plimsoll::base {
namespace {

TEST(E5File, HasShapeVocabularyAndTensors) {
  const std::string bytes = TinyE5::file();
  const auto file = read_e5_file(bytes);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->shape.width, TinyE5::width);
  EXPECT_EQ(file->shape.layers, TinyE5::layers);
  ASSERT_EQ(file->pieces.size(), TinyE5::pieces);
  EXPECT_EQ(file->pieces[5].text, "a");
  EXPECT_EQ(file->pieces[5].score, -5);
  EXPECT_EQ(file->end, 2U);
  ASSERT_NE(file->find("l1.fo.w"), nullptr);
  EXPECT_TRUE(file->find("l1.fo.w")->is_packed);
  EXPECT_EQ(file->find("l1.fo.w")->contents.size(), TinyE5::width * TinyE5::inner / 32 * 18);
  EXPECT_EQ(file->find("l2.fo.w"), nullptr);
}

TEST(E5File, EveryTruncatedFileIsRefused) {
  const std::string bytes = TinyE5::file();
  for (std::size_t size = 0; size < bytes.size(); size += size < 4'000 ? 1 : 997) {
    const auto file = read_e5_file(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(file) << size;
    EXPECT_EQ(file.error().code, Errc::bad_input);
    EXPECT_FALSE(file.error().what.empty());
  }
}

TEST(E5File, SaysWhatIsWrong) {
  const std::string good = TinyE5::file();
  const auto error_of = [&](std::size_t at, std::uint32_t value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    const auto file = read_e5_file(bytes);
    return file ? std::string() : file.error().what;
  };
  EXPECT_EQ(error_of(0, 0x12345678), "it does not start with E5S1");
  EXPECT_EQ(error_of(4, 2), "it has version 2; only 1 is supported");
  EXPECT_EQ(error_of(8, 0), "the width cannot be 0");
  EXPECT_EQ(error_of(8, 33), "the widths 33 and 64 do not go with 1 heads and blocks of 32");
  EXPECT_EQ(error_of(40, 64), "its blocks have 64 values; only 32 are supported");
  EXPECT_EQ(error_of(48, 99), "a special token is 99 of 40");
  EXPECT_EQ(error_of(76, 0xFFFFFFFF), "token 0 is at bytes 0 to 4294967295 of 84");
}

}  // namespace
}  // namespace plimsoll::base
