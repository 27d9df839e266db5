#include "adapters/postgres/address.hpp"

#include <gtest/gtest.h>

namespace plimsoll::postgres {
namespace {

TEST(PostgresAddress, ShowsNeitherUserNorPassword) {
  const auto address =
      read_address(base::Secret("postgres://ann:s3cr3t%21@db.example:6432/team?sslmode=verify-full"));
  ASSERT_TRUE(address) << address.error().what;
  EXPECT_EQ(address->shown, "postgres://db.example:6432/team");
  EXPECT_EQ(address->password.reveal(), "s3cr3t!");
}

TEST(PostgresAddress, RefusesWhatIsNoUrlWithoutRepeatingIt) {
  for (const char* text : {"", "store.db", "mysql://ann:s3cr3t@db/team", "host=db password=s3cr3t",
                           "postgres://ann:s3cr3t%zz@db/team", "postgres://ann:s3cr3t@[db/team",
                           "postgres://ann:s3cr3t@db/team?s3cr3t=1"}) {
    const auto address = read_address(base::Secret(text));
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Errc::bad_setting);
    EXPECT_EQ(address.error().what.find("s3cr3t"), std::string::npos) << address.error().what;
  }
}

TEST(PostgresAddress, TakesThePasswordOutOfMessages) {
  const auto address = read_address(base::Secret("postgres://ann:s3cr3t@db/team"));
  ASSERT_TRUE(address);
  EXPECT_EQ(safe_text(*address,
                      "connection to server at \"db\" (10.0.0.1), port 5432 failed: FATAL:  no s3cr3t\n"
                      "\tIs it running?\n"),
            "FATAL:  no ***; Is it running?");
  EXPECT_LE(safe_text(*address, std::string(100'000, 'x')).size(), 500U);
}

}  // namespace
}  // namespace plimsoll::postgres
