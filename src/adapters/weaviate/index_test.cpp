// What changes on the server, against a scripted one; tests/indexes has the contract against a real one.
#include "adapters/weaviate/index.hpp"

#include <gtest/gtest.h>

#include "adapters/weaviate/collection.hpp"
#include "adapters/weaviate/testing_http.hpp"
#include "base/testing_store.hpp"

namespace plimsoll::weaviate {
namespace {

Options impatient() {
  Options options;
  options.address = read_address(base::Secret("weaviate://one:1?replication=2")).value();
  options.first_pause = std::chrono::milliseconds(1);
  options.most_tries = 3;
  return options;
}

std::vector<WrittenObject> three_objects() {
  std::vector<WrittenObject> out;
  for (const char* id : {"a", "b", "c"}) out.push_back({id, fmt::format(R"({{"id":"{}"}})", id), 1});
  return out;
}

std::string result_of(std::string_view id, bool stored) {
  return stored ? fmt::format(R"({{"id":"{}","result":{{"status":"SUCCESS"}}}})", id)
                : fmt::format(R"({{"id":"{}","result":{{"status":"FAILED","errors":{{"error":[{{"message":)"
                              R"("cannot reach consistency level QUORUM"}}]}}}}}})",
                              id);
}

TEST(WeaviateCollection, SendsObjectsAgainThatWereNotStored) {
  int times = 0;
  ScriptedHttp http([&](const HttpRequest&) -> Result<HttpReply> {
    const bool last = ++times == 2;
    return HttpReply{
        200, "",
        last ? "[" + result_of("b", true) + "]"
             : fmt::format("[{},{},{}]", result_of("a", true), result_of("b", false), result_of("c", true))};
  });
  const Options options = impatient();
  const Nodes nodes(http, options);
  const auto done = Collection(nodes, "Plimsoll_1", 1).put(three_objects());
  ASSERT_TRUE(done) << done.error().what;
  ASSERT_EQ(http.asked.size(), 2U);
  EXPECT_EQ(http.asked[0].url, "http://one:1/v1/batch/objects?consistency_level=QUORUM");
  EXPECT_EQ(http.asked[1].body, R"({"objects":[{"id":"b"}]})");
}

TEST(WeaviateCollection, GivesUpAfterSomeTriesAndSaysWhy) {
  ScriptedHttp http([&](const HttpRequest&) -> Result<HttpReply> {
    return HttpReply{200, "", fmt::format("[{}]", result_of("a", true))};
  });
  const Options options = impatient();
  const Nodes nodes(http, options);
  auto done = Collection(nodes, "Plimsoll_1", 1).put(three_objects());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::unreachable);
  EXPECT_NE(done.error().what.find("did not store 2 objects after 3 tries"), std::string::npos)
      << done.error().what;
  EXPECT_EQ(http.asked.size(), 3U);
}

TEST(WeaviateCollection, DoesNotRepeatWhatTheServerRefuses) {
  ScriptedHttp http([&](const HttpRequest&) -> Result<HttpReply> {
    return HttpReply{422, "", R"({"error":[{"message":"invalid object"}]})"};
  });
  const Options options = impatient();
  const Nodes nodes(http, options);
  const auto done = Collection(nodes, "Plimsoll_1", 1).put(three_objects());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::upstream_failed);
  EXPECT_EQ(http.asked.size(), 1U);
}

TEST(WeaviateIndex, DoesNotOpenWithoutItsServer) {
  ScriptedHttp http([](const HttpRequest&) -> Result<HttpReply> {
    return fail(Errc::unreachable, "nobody answers there");
  });
  base::MemoryStore store;
  ASSERT_TRUE(store.create_index("local", "docs", {}));
  const auto index = open_index(http, store, store.info, impatient());
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().code, Errc::unreachable);
}

// A server that stores everything, and whose copies have so many chunks, one look after the other.
class LateCopies : public testing::Test {
 protected:
  LateCopies() {
    EXPECT_TRUE(store_.create_index("local", "docs", {}));
    for (const char* text : {"anchor", "barge"}) {
      DocumentWithVectors one;
      one.document.key = one.document.text = text;
      one.document.chunks.emplace_back().span = {0, one.document.text.size()};
      EXPECT_TRUE(store_.put(store_.info.id, {&one, 1}));
    }
    auto opened = open_index(http_, store_, store_.info, impatient());
    EXPECT_TRUE(opened) << opened.error().what;
    if (opened) index_ = *std::move(opened);
  }

  HttpReply answer(const HttpRequest& request) {
    if (request.method == "GET") return {404, "", "{}"};
    if (request.url.ends_with("/v1/schema")) return {200, "", "{}"};
    if (request.url.find("/batch/") != std::string::npos) {
      std::string stored;
      const Json body = Json::parse(request.body);
      for (const Json& one : body["objects"])
        stored += (stored.empty() ? "" : ",") + result_of(one["id"].get<std::string>(), true);
      return {200, "", "[" + stored + "]"};
    }
    Json data;
    const std::size_t there = there_.size() > 1 ? std::exchange(there_[0], 0) : there_.at(0);
    if (there_.size() > 1) there_.erase(there_.begin());
    for (int i = 0; i < 40; ++i) data["Aggregate"][fmt::format("c{}", i)][0]["meta"]["count"] = 0;
    data["Aggregate"]["all"][0]["meta"]["count"] = there + 1;  // with the note of the progress
    ++looks_;
    return {200, "", Json{{"data", data}}.dump()};
  }

  base::MemoryStore store_;
  ScriptedHttp http_{[this](const HttpRequest& request) -> Result<HttpReply> { return answer(request); }};
  std::vector<std::size_t> there_{2};
  int looks_ = 0;
  std::unique_ptr<Index> index_;
};

TEST_F(LateCopies, AreNotBelievedWhileAnotherMayHaveAll) {
  there_ = {1, 1, 2};
  EXPECT_TRUE(index_->lexical("anchor", 5, nullptr));
  EXPECT_EQ(looks_, 4);  // three for the languages, and one for the words
}

TEST_F(LateCopies, AreAnErrorIfNoneHasAll) {
  there_ = {1};
  const auto found = index_->lexical("anchor", 5, nullptr);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::unreachable);
  EXPECT_NE(found.error().what.find("only 1 of 2 chunks"), std::string::npos) << found.error().what;
  EXPECT_NE(found.error().what.find("index rebuild docs"), std::string::npos) << found.error().what;
  EXPECT_EQ(looks_, impatient().most_looks);
}

TEST_F(LateCopies, MayLackWhatTheStoreHasRemovedSince) {
  ASSERT_TRUE(store_.remove(store_.info.id, std::vector<std::string>{"anchor"}));
  there_ = {1};
  EXPECT_TRUE(index_->lexical("barge", 5, nullptr));
  there_ = {0};
  EXPECT_FALSE(index_->lexical("barge", 5, nullptr));
}

TEST(WeaviateIndex, HasACollectionOfItsOwnForEachStoreAndEachIndex) {
  IndexInfo one, other, again;
  one.id = again.id = 1;
  other.id = 2;
  again.created_ms = 3;  // the number was used before
  const std::set<std::string> names{collection_name("here", one), collection_name("here", other),
                                    collection_name("here", again), collection_name("there", one)};
  EXPECT_EQ(names.size(), 4U);
  for (const std::string& name : names)
    EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos);
}

}  // namespace
}  // namespace plimsoll::weaviate
