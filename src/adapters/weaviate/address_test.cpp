#include "adapters/weaviate/address.hpp"

#include <gtest/gtest.h>

namespace plimsoll::weaviate {
namespace {

using Texts = std::vector<std::string>;

TEST(WeaviateAddress, HasNodesAKeyAndOptions) {
  const auto address = read_address(
      base::Secret("weaviate://s3cr3t%21@a.example:8080,b.example,[::1]:9?replication=2&shards=3"));
  ASSERT_TRUE(address) << address.error().what;
  EXPECT_EQ(address->nodes, (Texts{"http://a.example:8080", "http://b.example:8080", "http://[::1]:9"}));
  EXPECT_EQ(address->shown, "weaviate://a.example:8080,b.example:8080,[::1]:9");
  EXPECT_EQ(address->key.reveal(), "s3cr3t!");
  EXPECT_EQ(address->replication, 2);
  EXPECT_EQ(address->shards, 3);
}

TEST(WeaviateAddress, MayBeShort) {
  const auto plain = read_address(base::Secret("weaviate://localhost"));
  ASSERT_TRUE(plain) << plain.error().what;
  EXPECT_EQ(plain->nodes, Texts{"http://localhost:8080"});
  EXPECT_TRUE(plain->key.empty());
  EXPECT_EQ(plain->replication, 1);
  EXPECT_EQ(plain->shards, 1);
  const auto tls = read_address(base::Secret("weaviates://host/"));
  ASSERT_TRUE(tls) << tls.error().what;
  EXPECT_EQ(tls->nodes, Texts{"https://host:443"});
  EXPECT_EQ(tls->shown, "weaviates://host:443");
}

TEST(WeaviateAddress, RefusesOthersWithoutRepeatingThem) {
  for (const char* text : {"", "s3cr3t", "http://s3cr3t@host:8080", "weaviate://", "weaviate://s3cr3t@",
                           "weaviate://s3cr3t%zz@host", "weaviate://s3cr3t%0a@host", "weaviate://@host",
                           "weaviate://s3cr3t@host:0", "weaviate://s3cr3t@host:99999",
                           "weaviate://s3cr3t@ho st", "weaviate://s3cr3t@host/path", "weaviate://s3cr3t@a,,b",
                           "weaviate://s3cr3t@host?replication=0", "weaviate://s3cr3t@host?s3cr3t=1",
                           "weaviate://s3cr3t@[::1", "weaviate://s3cr3t@host?replication=2&shards=many"}) {
    const auto address = read_address(base::Secret(text));
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Errc::bad_setting);
    EXPECT_EQ(address.error().what.find("s3cr3t"), std::string::npos) << address.error().what;
  }
}

}  // namespace
}  // namespace plimsoll::weaviate
