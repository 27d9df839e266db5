#include "gateway/router.hpp"

#include <gtest/gtest.h>

#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

ClientRequest request(std::string method, std::string_view target) {
  Target split = split_target(target);
  ClientRequest out;
  out.method = std::move(method);
  out.path = std::move(split.path);
  out.raw_path = std::move(split.raw_path);
  return out;
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    for (const auto& [method, path] :
         std::vector<std::pair<const char*, const char*>>{{"GET", "/"},
                                                          {"POST", "/api/chat"},
                                                          {"POST", "/api/{other...}"},
                                                          {"GET", "/v1/models/{model...}"},
                                                          {"GET", "/indexes/{name}/documents"},
                                                          {"POST", "/indexes/{name}/documents"},
                                                          {"DELETE", "/indexes/{name}"}})
      router_.add({{method, path, "tag", "summary"}, {}});
  }
  std::string path_for(const std::string& method, std::string_view target) {
    const Router::Match match = router_.match(request(method, target));
    return match.route != nullptr ? std::string(match.route->about.path) : "none";
  }

  Router router_;
};

TEST_F(RouterTest, TakesTheFirstRouteThatFits) {
  EXPECT_EQ(path_for("GET", "/"), "/");
  EXPECT_EQ(path_for("POST", "/api/chat"), "/api/chat");
  EXPECT_EQ(path_for("POST", "/api/pull"), "/api/{other...}");
  EXPECT_EQ(path_for("GET", "/indexes/ship/documents?limit=1"), "/indexes/{name}/documents");
  EXPECT_EQ(path_for("DELETE", "/indexes/ship"), "/indexes/{name}");
}

TEST_F(RouterTest, TellsTheNameInThePath) {
  EXPECT_EQ(router_.match(request("GET", "/indexes/a%2Fb/documents")).name, "a/b");
  EXPECT_EQ(router_.match(request("GET", "/v1/models/team/own%20model")).name, "team/own model");
  EXPECT_EQ(router_.match(request("GET", "/")).name, "");
}

TEST_F(RouterTest, ListsTheMethodsWhereNoneFits) {
  const Router::Match match = router_.match(request("PUT", "/indexes/ship/documents"));
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, "GET, POST");
  EXPECT_EQ(router_.match(request("GET", "/api/chat")).allowed, "POST");  // each once
}

TEST_F(RouterTest, KnowsWhatIsNotThere) {
  for (const char* target :
       {"/nowhere", "//", "/v1/models/", "/indexes//documents", "/indexes/a/b", "/api", ""}) {
    const Router::Match match = router_.match(request("GET", target));
    EXPECT_EQ(match.route, nullptr) << target;
    EXPECT_EQ(match.allowed, "") << target;
  }
}

}  // namespace
}  // namespace plimsoll::gateway
