#include "adapters/weaviate/nodes.hpp"

#include <gtest/gtest.h>

#include "adapters/weaviate/testing_http.hpp"

namespace plimsoll::weaviate {
namespace {

Options two_nodes() {
  Options options;
  options.address = read_address(base::Secret("weaviate://s3cr3t@one:1,two:2")).value();
  return options;
}

bool is_first_node(const HttpRequest& request) {
  return request.url.starts_with("http://one:1/");
}

TEST(WeaviateNodes, AskAnotherNodeIfOneIsAway) {
  ScriptedHttp http([](const HttpRequest& request) -> Result<HttpReply> {
    if (is_first_node(request)) return fail(Errc::unreachable, "nobody answers there");
    return HttpReply{200, "", R"({"data":{"Get":1}})"};
  });
  const Options options = two_nodes();
  const Nodes nodes(http, options);
  for (int i = 0; i < 6; ++i) {
    const auto data = nodes.query("{Get}", nodes.for_search());
    ASSERT_TRUE(data) << data.error().what;
    EXPECT_EQ((*data)["Get"], 1);
  }
  EXPECT_EQ(std::ranges::count_if(http.asked, is_first_node), 1);  // then it is asked last
  EXPECT_EQ(http.asked[0].headers.back().value, "Bearer s3cr3t");
}

TEST(WeaviateNodes, SayThatTheServerIsAwayWithoutTheKey) {
  for (const int status : {0, 500, 503}) {
    ScriptedHttp http([&](const HttpRequest&) -> Result<HttpReply> {
      if (status == 0) return fail(Errc::timed_out, "no whole reply within 4 s");
      return HttpReply{status, "", R"({"error":[{"message":"no leader"}]})"};
    });
    const Options options = two_nodes();
    const Nodes nodes(http, options);
    const auto data = nodes.query("{Get}", nodes.for_search());
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().code, Errc::unreachable);
    EXPECT_NE(data.error().what.find("weaviate://one:1,two:2 does not answer"), std::string::npos)
        << data.error().what;
    EXPECT_EQ(data.error().what.find("s3cr3t"), std::string::npos);
    EXPECT_EQ(http.asked.size(), 2U);
  }
}

TEST(WeaviateNodes, TellALostCollectionFromAFailure) {
  std::string body;
  ScriptedHttp http([&](const HttpRequest&) -> Result<HttpReply> { return HttpReply{200, "", body}; });
  const Options options = two_nodes();
  const Nodes nodes(http, options);
  const std::pair<std::string, Errc> expected[] = {
      {R"({"errors":[{"message":"Cannot query field \"Plimsoll_1\" on type \"GetObjectsObj\"."}]})",
       Errc::damaged},
      {R"({"errors":[{"message":"explorer: get class\nthe query"}],"data":{"Get":null}})",
       Errc::upstream_failed},
      {"<html>", Errc::upstream_failed}};
  for (const auto& [answer, code] : expected) {
    body = answer;
    const auto data = nodes.query("{Get}", nodes.for_search());
    ASSERT_FALSE(data) << answer;
    EXPECT_EQ(data.error().code, code) << data.error().what;
    EXPECT_EQ(data.error().what.find("the query"), std::string::npos);
  }
}

TEST(WeaviateNodes, SayThatTheKeyIsRefused) {
  ScriptedHttp http([](const HttpRequest&) -> Result<HttpReply> { return HttpReply{401, "", ""}; });
  const Options options = two_nodes();
  const Nodes nodes(http, options);
  const auto data = nodes.query("{Get}", nodes.for_search());
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Errc::bad_setting);
  EXPECT_EQ(http.asked.size(), 1U);
}

}  // namespace
}  // namespace plimsoll::weaviate
