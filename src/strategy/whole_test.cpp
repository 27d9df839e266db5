#include "strategy/whole.hpp"

#include <gtest/gtest.h>

namespace plimsoll::strategy {
namespace {

TEST(AsksForTheWhole, WhateverIsToBeMadeOfAll) {
  for (const char* query :
       {"Summarize the documents", "Summarize these documents", "Summarise all files", "summarise everything",
        "Give me an overview of everything here", "What are the main topics of this collection?",
        "Please write a short summary of all these files in three sentences.", "TLDR",
        "What's in these documents?", "What is this collection about?", "Summarise this"})
    EXPECT_TRUE(asks_for_the_whole(query)) << query;
}

TEST(AsksForTheWhole, NotWhereSomethingIsNamed) {
  for (const char* query :
       {"Summarize the refund policy", "Which file has the invoice of May?", "What is it?", "",
        "How do I index a document?", "Give me an overview of the Docker commands", "And you?",
        "What does the index of prices say about rent?"})
    EXPECT_FALSE(asks_for_the_whole(query)) << query;
}

}  // namespace
}  // namespace plimsoll::strategy
