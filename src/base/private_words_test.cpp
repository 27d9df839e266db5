#include "base/private_words.hpp"

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(PrivateWords, AreReplacedTheLongestFirst) {
  keep_private("http://10.1.2.3:8000", "the upstream 'gpu'");
  keep_private("http://10.1.2.3:8000/v1", "the upstream 'gpu'");
  keep_private("", "nothing");
  EXPECT_EQ(for_clients("http://10.1.2.3:8000/v1/chat: gone; http://10.1.2.3:8000: gone"),
            "the upstream 'gpu'/chat: gone; the upstream 'gpu': gone");
  EXPECT_EQ(for_clients("no words of ours"), "no words of ours");
}

TEST(PrivateWords, MayBeKeptAgainUnderAnotherName) {
  keep_private("/var/a.db", "a");
  keep_private("/var/a.db", "/var/a.db, once");
  EXPECT_EQ(for_clients("/var/a.db"), "/var/a.db, once");
}

}  // namespace
}  // namespace plimsoll::base
