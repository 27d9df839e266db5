// What a server says of a request must not be taken for its own words.
#include "engine/own_words.hpp"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

const OwnWords of_request{
    "gpt-4o",
    {R"({"model":"gpt-4o","messages":[{"content":"the anchor is caught in the reef"}]})",
     R"({"model":"gpt-4o","added":"a line that only the plan has written"})"}};

TEST(OwnWords, AreFoundInWhatCameAndInWhatWasSent) {
  EXPECT_TRUE(repeats_request(of_request, "bad input: 'the anchor is caught in the reef'"));
  EXPECT_TRUE(repeats_request(of_request, "bad input: 'a line that only the plan has written'"));
  EXPECT_FALSE(repeats_request(of_request, "the temperature must be a number between 0 and 2"));
}

TEST(OwnWords, AreFoundWithoutJsonsEscapes) {
  const OwnWords quoted{"m", {R"({"content":"say \"heave away\" and haul, my hearties"})", ""}};
  EXPECT_TRUE(repeats_request(quoted, R"(unexpected: say "heave away" and haul, my hearties)"));
}

TEST(OwnWords, TheModelsNameIsNone) {
  const OwnWords long_name{"a-very-long-name-of-a-model-indeed",
                           {R"({"model":"a-very-long-name-of-a-model-indeed"})", ""}};
  EXPECT_FALSE(repeats_request(long_name, "there is no a-very-long-name-of-a-model-indeed here"));
}

TEST(OwnWords, PhrasesAreFoundInAnyCase) {
  const OwnWords loud{"m", {R"({"content":"The ANCHOR is Caught"})", ""}};
  EXPECT_TRUE(holds_words(loud, {"no such phrase", "anchor is caught"}));
  EXPECT_FALSE(holds_words(of_request, {"maximum context length"}));
}

TEST(OwnWords, PhrasesAreFoundWhateverTheServerMadeOfTheirBlanks) {
  for (const char* sent : {R"({"user":"maximum context length  is 300 tokens"})",
                           R"({"user":["maximum context length is",300,"tokens"]})",
                           R"({"user":"maximum\tcontext-length\u200bis 300"})"})
    EXPECT_TRUE(holds_words(OwnWords{"m", {sent, ""}}, {"maximum context length is 300"})) << sent;
}

TEST(OwnWords, AreKeptForTheRecordOnlyWherePromptsAre) {
  const std::string said = "bad input: 'the anchor is caught in the reef'";
  EXPECT_EQ(for_the_record(true, of_request, said), said);
  EXPECT_EQ(for_the_record(false, of_request, said).find("anchor"), std::string::npos);
  EXPECT_EQ(for_the_record(false, of_request, "no such model"), "no such model");
}

}  // namespace
}  // namespace plimsoll::engine
