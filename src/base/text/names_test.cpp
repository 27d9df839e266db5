#include "base/text/names.hpp"

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

std::vector<std::string> keys_in(std::string_view text) {
  std::vector<Name> names;
  read_names(text, names);
  std::vector<std::string> out;
  for (Name& name : names) out.push_back(std::move(name.key));
  return out;
}

using Keys = std::vector<std::string>;

TEST(Names, AreRunsOfCapitalisedWords) {
  EXPECT_EQ(keys_in("He was born in Silver Spring and moved to the Isle of Man."),
            (Keys{"silver spring", "isle of man"}));
  EXPECT_EQ(keys_in("In Berlin, Ludwig van Beethoven met Xawery Żuławski."),
            (Keys{"berlin", "ludwig van beethoven", "xawery zulawski"}));
  EXPECT_EQ(keys_in("It was written by P. L. Travers's friend."), (Keys{"p l travers"}));
  EXPECT_EQ(keys_in("the 2015 Orange Bowl"), (Keys{"2015 orange bowl"}));
}

TEST(Names, EndAtPunctuationAndAtAnd) {
  EXPECT_EQ(keys_in("Paris, Texas and London. Rome"), (Keys{"paris", "texas", "london", "rome"}));
}

TEST(Names, GoOnInTheNextLineButNotAfterAHeading) {
  EXPECT_EQ(keys_in("It was built by Samuel\nHall in Whitby."), (Keys{"samuel hall", "whitby"}));
  EXPECT_EQ(keys_in("# Samuel Hall\nSamuel Hall was born.\n## Mary Bright\nShe sailed."),
            (Keys{"samuel hall", "samuel hall", "mary bright"}));
}

TEST(Names, LeaveOutArticlesNumbersDatesAndCommonWords) {
  EXPECT_EQ(keys_in("The Beatles played. They were four. It was on 12 July 1963, in May 1964 and in 1970."),
            (Keys{"beatles"}));
  EXPECT_TRUE(keys_in("").empty());
}

TEST(Names, AreAlsoIdentifiersAndLinks) {
  EXPECT_EQ(keys_in("call gatherOptions or most_terms twice"), (Keys{"gatheroptions", "most terms"}));
  EXPECT_EQ(keys_in("see the [install guide](install.md) first"), (Keys{"install guide"}));
}

TEST(Names, HaveTheirPlaceInTheText) {
  std::vector<Name> names;
  read_names("to Silver Spring.", names);
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].start, 3U);
  EXPECT_EQ(names[0].end, 16U);
}

TEST(Names, KeyOfATitleIsThatOfTheNameInAText) {
  EXPECT_EQ(name_key("The Beatles"), "beatles");
  EXPECT_EQ(name_key("Isle of Man"), keys_in("the Isle of Man").front());
  EXPECT_EQ(name_key(" ... "), "");
}

TEST(OpeningNames, ReadTitlesInThreeForms) {
  EXPECT_EQ(opening_names("Saw II: Saw II is a film.").titles, (Keys{"saw ii"}));
  EXPECT_EQ(opening_names("Saw (film)\n\nSaw is a film.").titles, (Keys{"saw film", "saw"}));
  EXPECT_EQ(opening_names("# Saw\nText.").titles, (Keys{"saw"}));
  EXPECT_EQ(opening_names("Star Wars: Episode IV: A film of 1977.").titles,
            (Keys{"star wars", "star wars episode iv"}));
  EXPECT_TRUE(opening_names("He said this: that was all.").others.empty());
}

TEST(OpeningNames, ReadOtherNamesBeforeTheVerb) {
  EXPECT_EQ(opening_names("Santería: Santería, also known as Regla de Ochá or Lucumi, is a religion of Cuba.")
                .others,
            (Keys{"regla de ocha", "lucumi"}));
  EXPECT_EQ(opening_names("The National Football League (NFL) is a league in America.").others,
            (Keys{"national football league", "nfl"}));
  EXPECT_EQ(opening_names("Fred Gehrke: Clarence Fred Gehrke (born 1918 in Utah) was a player.").others,
            (Keys{"clarence fred gehrke"}));
}

}  // namespace
}  // namespace plimsoll::base
