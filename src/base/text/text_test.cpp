#include "base/text/text.hpp"

#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(WithThousands, SeparatesEveryThreeDigits) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(12345), "12,345");
  EXPECT_EQ(with_thousands(1048576), "1,048,576");
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
  EXPECT_EQ(with_thousands(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(HumanBytes, TakesTheUnitThatReadsBest) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999'949), "999.9 kB");
  EXPECT_EQ(human_bytes(999'950), "1.0 MB");
  EXPECT_EQ(human_bytes(3'613'922), "3.6 MB");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::uint64_t>::max()), "18.4 EB");
}

TEST(AsciiCase, LeavesEverythingButLettersAlone) {
  EXPECT_EQ(to_lower_ascii("MIN_TOP_K [@`{] \xC3\x89"), "min_top_k [@`{] \xC3\x89");
  EXPECT_EQ(to_upper_ascii("min_top_k [@`{] \xC3\xA9"), "MIN_TOP_K [@`{] \xC3\xA9");
}

TEST(Trim, TakesBlanksFromBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(FindInvalidUtf8, AcceptsTheFirstAndLastCharacterOfEveryLength) {
  for (const char* good : {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  EXPECT_TRUE(is_valid_utf8(std::string_view("\0", 1)));
}

TEST(FindInvalidUtf8, NamesTheFirstByteOfWhatIsWrong) {
  const std::array<std::string_view, 13> bad{
      "\x80",              // a continuation alone
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong
      "\xC3",              // cut short
      "\xC3(",             // no continuation
      "\xE0\x9F\xBF",      // overlong
      "\xED\xA0\x80",      // a surrogate
      "\xE2\x82",          // cut short
      "\xE2\x82(",         // third byte wrong
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xF4\x90\x80\x80",  // above U+10FFFF
      "\xF5\x80\x80\x80",  // no such lead
      "\xFF",
  };
  for (const std::string_view sequence : bad) {
    EXPECT_EQ(find_invalid_utf8(sequence), 0U);
    EXPECT_EQ(find_invalid_utf8("\xC3\xA9x" + std::string(sequence) + "y"), 3U);
  }
}

TEST(EditDistance, CountsTheFourKindsOfSlip) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("top", "top"), 0U);
  EXPECT_EQ(edit_distance("top", ""), 3U);
  EXPECT_EQ(edit_distance("top", "tops"), 1U);
  EXPECT_EQ(edit_distance("top", "tp"), 1U);
  EXPECT_EQ(edit_distance("top", "tip"), 1U);
  EXPECT_EQ(edit_distance("top", "otp"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // 2 if the swapped letters might be edited again
}

TEST(EditDistance, IsSymmetricAndWithinItsBounds) {
  std::mt19937 rng{11};
  const auto word = [&] {
    std::string letters(rng() % 9, ' ');
    for (char& c : letters) c = static_cast<char>('a' + rng() % 3);
    return letters;
  };
  int different = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::string a = word();
    const std::string b = word();
    const std::size_t distance = edit_distance(a, b);
    EXPECT_EQ(distance, edit_distance(b, a)) << a << ' ' << b;
    EXPECT_GE(distance, std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
    EXPECT_LE(distance, std::max(a.size(), b.size()));
    EXPECT_EQ(distance == 0, a == b);
    different += a != b ? 1 : 0;
  }
  EXPECT_GT(different, 1000);
}

TEST(Nearest, FindsTheNameThatWasMeantAndNoOther) {
  const std::array<std::string_view, 3> names{"min_top_k", "max_top_k", "debug"};
  EXPECT_EQ(nearest("min_topk", names), "min_top_k");
  EXPECT_EQ(nearest("mx_top_k", names), "max_top_k");
  EXPECT_EQ(nearest("debgu", names), "debug");
  EXPECT_EQ(nearest("temperature", names), std::nullopt);
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest("debug", {}), std::nullopt);
  const std::vector<std::string_view> models{"smollm2:135m-instruct", "smollm2:135m"};
  EXPECT_EQ(nearest("smollm2", models), "smollm2:135m");
  EXPECT_EQ(nearest("smo", models), std::nullopt);
  const std::vector<std::string_view> llamas{"llama3.1:70b-instruct", "llama3.1:8b-instruct"};
  EXPECT_EQ(nearest("llama3.1", llamas), "llama3.1:8b-instruct");
}

}  // namespace
}  // namespace plimsoll::base
