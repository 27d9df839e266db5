#include "count/chat/images.hpp"

#include <string>

#include <gtest/gtest.h>

namespace plimsoll::count {
namespace {

Tokens cost(std::string_view rule, std::int64_t width, std::int64_t height, Detail detail = Detail::high) {
  return image_tokens(*find_image_rule(rule), {width, height}, detail);
}

TEST(ImageTokens, FollowsTheExamplesThatOpenaiGives) {
  EXPECT_EQ(cost("openai-gpt-4o", 1024, 1024), 765);
  EXPECT_EQ(cost("openai-gpt-4o", 2048, 4096), 1105);
  EXPECT_EQ(cost("openai-gpt-4o", 4096, 8192, Detail::low), 85);
  EXPECT_EQ(cost("openai-gpt-4o", 512, 512), 255);
  EXPECT_EQ(cost("openai-gpt-4o-mini", 1024, 1024), 2833 + 4 * 5667);
  EXPECT_EQ(cost("openai-o1", 1024, 1024), 75 + 4 * 150);
  EXPECT_EQ(cost("openai-gpt-5", 1024, 1024), 70 + 4 * 140);
  EXPECT_EQ(cost("openai-computer-use", 1024, 1024), 65 + 4 * 129);
  EXPECT_EQ(cost("openai-gpt-4.1-mini", 1024, 1024), 1659);  // 1024 patches x 1.62
  EXPECT_EQ(cost("openai-gpt-4.1-mini", 1800, 2400), 2353);  // 1452 patches x 1.62
  EXPECT_EQ(cost("openai-gpt-4.1-nano", 1024, 1024), 2520);
  EXPECT_EQ(cost("openai-o4-mini", 1024, 1024), 1762);
}

TEST(ImageTokens, FollowsTheOthersRules) {
  EXPECT_EQ(cost("anthropic", 200, 200), 54);
  EXPECT_EQ(cost("anthropic", 1000, 1000), 1334);
  EXPECT_EQ(cost("anthropic", 1092, 1092), 1590);
  EXPECT_EQ(cost("anthropic", 4000, 4000), 1600);
  EXPECT_EQ(cost("gemini", 384, 384), 258);
  EXPECT_EQ(cost("gemini", 960, 540), 6 * 258);
  EXPECT_EQ(cost("gemini", 1536, 1536), 4 * 258);
  EXPECT_EQ(cost("gemma3", 5000, 10), 256);
  EXPECT_EQ(cost("qwen2-vl", 280, 280), 100);
  EXPECT_EQ(cost("qwen2-vl", 28, 28), 4);
  EXPECT_LE(cost("qwen2-vl", 20000, 20000), 16384);
  EXPECT_EQ(cost("ollama", 1, 1), 768);
  EXPECT_EQ(cost("pixtral", 1024, 1024), 64 * 65);
  EXPECT_EQ(cost("pixtral", 512, 256), 16 * 33);
}

TEST(ImageTokens, StaysWithinTheMostForEverySize) {
  const std::int64_t sides[] = {-5,  0,    1,    27,   31,   33,   511,   513,      767,
                                769, 1567, 2047, 2049, 3072, 4097, 65535, INT64_MAX};
  for (const ImageRule& rule : all_image_rules()) {
    for (const std::int64_t width : sides) {
      for (const std::int64_t height : sides) {
        const Tokens tokens = image_tokens(rule, {width, height});
        EXPECT_GE(tokens, 1) << rule.name << ' ' << width << 'x' << height;
        EXPECT_LE(tokens, most_image_tokens(rule)) << rule.name << ' ' << width << 'x' << height;
      }
    }
  }
}

TEST(ReadImageSize, ReadsTheHeadersOfFourFormats) {
  const auto size = [](std::string_view bytes) {
    const auto read = read_image_size(bytes);
    return read ? std::to_string(read->width) + "x" + std::to_string(read->height) : "none";
  };
  using namespace std::string_literals;
  EXPECT_EQ(size("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x40\x08"s), "256x64");
  EXPECT_EQ(size("GIF89a\x40\x01\xf0\x00"s), "320x240");
  EXPECT_EQ(size("\xff\xd8\xff\xe0\0\x04zz\xff\xc0\0\x11\x08\0\x90\1\0\3"s), "256x144");
  EXPECT_EQ(size("RIFFxxxxWEBPVP8Xxxxx\0\0\0\0\xff\1\0\x7f\0\0"s), "512x128");
  EXPECT_EQ(size("RIFFxxxxWEBPVP8 xxxx\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00"s), "320x240");
  EXPECT_EQ(size("RIFFxxxxWEBPVP8Lxxxx\x2f\xff\xc0\x3f\0\0\0\0\0\0"s), "256x256");
  EXPECT_EQ(size("\xff\xd8\xff\xe0\0\0zzzzzzzzzzzz"s), "none");
  EXPECT_EQ(size("\x89PNG\r\n\x1a\n"s), "none");
  EXPECT_EQ(size(""), "none");
}

TEST(DataUrlImageSize, DecodesOnlyWhatItNeeds) {
  const std::string png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAQAAAABACAYAAAA=";
  const auto size = data_url_image_size(png + std::string(5'000'000, 'A'));
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 256);
  EXPECT_EQ(size->height, 64);
  EXPECT_FALSE(data_url_image_size("https://example.org/a.png"));
  EXPECT_FALSE(data_url_image_size("data:image/png;base64"));
  EXPECT_FALSE(data_url_image_size("data:image/png,iVBORw0KGgo"));
}

}  // namespace
}  // namespace plimsoll::count
