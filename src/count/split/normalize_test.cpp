#include "count/split/normalize.hpp"

#include <cstdlib>
#include <memory>
#include <random>

#include <gtest/gtest.h>
#include <utf8proc.h>

namespace plimsoll::count {
namespace {

std::string reference(std::string_view text, bool compatible) {
  const int options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  EXPECT_GE(size, 0);
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

std::string random_text(std::mt19937& rng) {
  static constexpr char32_t blocks[] = {0x20,   0x41,   0xC0,   0x300,  0x338,   0x3B1,  0x5B0,  0x621,
                                        0x64B,  0x915,  0x93C,  0xE34,  0xF71,   0x1100, 0x1161, 0x11A8,
                                        0x1E00, 0x1FBE, 0x2126, 0x2150, 0x3099,  0x30AB, 0x3300, 0x4E00,
                                        0xAC00, 0xF900, 0xFB1D, 0xFF21, 0x1D15E, 0x2F800};
  std::string text;
  for (std::size_t n = rng() % 24; n > 0; --n) {
    const auto code_point = static_cast<utf8proc_int32_t>(blocks[rng() % std::size(blocks)] + rng() % 40);
    if (utf8proc_category(code_point) == UTF8PROC_CATEGORY_CN) continue;
    utf8proc_uint8_t bytes[4];
    text.append(reinterpret_cast<const char*>(bytes),
                static_cast<std::size_t>(utf8proc_encode_char(code_point, bytes)));
  }
  return text;
}

TEST(Normalize, ClusterByClusterEqualsTheWholeText) {
  std::mt19937 rng{31};
  int changed = 0;
  for (int round = 0; round < 60'000; ++round) {
    const std::string text = random_text(rng);
    std::string storage;
    for (const bool compatible : {false, true}) {
      const Normalizer normalizer{.form = compatible ? Normalizer::Form::nfkc : Normalizer::Form::nfc};
      const std::string_view found = normalize(normalizer, text, Place::text_front, storage);
      ASSERT_EQ(found, reference(text, compatible)) << text;
      changed += found != text ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 20'000);
}

TEST(Normalize, ManyMarksOnOneCharacterAreSortedToo) {
  std::mt19937 rng{32};
  static constexpr const char* marks[] = {"\u0301", "\u0316", "\u0327", "\u0338", "\u0345", "\u0340"};
  for (int round = 0; round < 50; ++round) {
    std::string text = "e";
    for (int i = 0; i < 400; ++i) text += marks[rng() % std::size(marks)];
    text += 'x';
    std::string storage;
    ASSERT_EQ(normalize({.form = Normalizer::Form::nfc}, text, Place::text_front, storage),
              reference(text, false));
    ASSERT_EQ(normalize({.form = Normalizer::Form::nfkc}, text, Place::text_front, storage),
              reference(text, true));
  }
}

TEST(Normalize, StableTextIsGivenBackItself) {
  const std::string text = "Καλημέρα, мир, 世界, نص";
  std::string storage;
  EXPECT_EQ(normalize({.form = Normalizer::Form::nfc}, text, Place::text_front, storage).data(), text.data());
}

TEST(Normalize, InvalidBytesStay) {
  std::string storage;
  EXPECT_EQ(normalize({.form = Normalizer::Form::nfc},
                      "e\xCC\x81\xFF"
                      "e\xCC\x81\xC3",
                      Place::text_front, storage),
            "\xC3\xA9\xFF\xC3\xA9\xC3");
}

TEST(Normalize, ABarIsASpaceAndAPrefixGoesInFront) {
  std::string storage;
  const Normalizer normalizer{.bar_is_space = true, .prefix_space = true};
  EXPECT_EQ(normalize(normalizer, "a\u2581b", Place::text_front, storage), " a b");
  EXPECT_EQ(normalize(normalizer, "", Place::text_front, storage), "");
  EXPECT_EQ(normalize({.prefix_space = true, .prefix_first_only = true}, "a", Place::segment_front, storage),
            "a");
}

TEST(Normalize, SpacesAreCollapsedAndTrimmedAtTheEndsOfATextOnly) {
  std::string storage;
  const Normalizer normalizer{.collapse_spaces = true};
  EXPECT_EQ(normalize(normalizer, "  a   b ", Place::text_front, storage), "a b");
  EXPECT_EQ(normalize(normalizer, "  a   b ", Place::inside, storage), " a b");
  EXPECT_EQ(normalize(normalizer, "  ", Place::inside, storage), "");
}

TEST(Normalize, TheRuleOfSentencePieceRemovesControlsAndComposes) {
  std::string storage;
  const Normalizer normalizer{.form = Normalizer::Form::nmt_nfkc, .collapse_spaces = true};
  const auto of = [&](std::string_view text) {
    return std::string(normalize(normalizer, text, Place::text_front, storage));
  };
  EXPECT_EQ(of("e\u0301 \uff21\x01\uff22"), "\u00e9 AB");
  EXPECT_EQ(of("a\tb\u200bc\ufeff"), "a b c");
  EXPECT_EQ(of("\uff5e \u32ff"), "\uff5e \u32ff");
  EXPECT_EQ(of("\ufb01\u2028x\xff"), "fi x");
}

TEST(Normalize, BertLowersStripsAndSpacesHan) {
  std::string storage;
  const Normalizer bert{.lower_case = true, .strip_accents = true, .clean_text = true, .split_han = true};
  EXPECT_EQ(normalize(bert, "Caf\u00e9\t\u4e2d\x01", Place::text_front, storage), "cafe  \u4e2d ");
}

}  // namespace
}  // namespace plimsoll::count
