// Reading and routing: what is planned, and for which model.
#include "base/json/json_text.hpp"
#include "base/testing_store.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class ReadRequest : public testing::Test {
 protected:
  Result<Request> resolved(const std::string& body) {
    const Received received(ask_with(body), "t");
    auto chat = read_request(received);
    if (!chat) return tl::unexpected(chat.error());
    auto request = resolve(test_.engine, received, *std::move(chat));
    if (request) request->chat.text = {};  // it views `received`
    return request;
  }
  void open_store() { test_.engine.open_indexes = &indexes_; }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
  base::MemoryStore store_;
  library::OpenIndexes indexes_{store_,
                                [](const IndexInfo&) -> Result<std::unique_ptr<library::LoadedIndex>> {
                                  return fail(Errc::not_found, "not opened in these tests");
                                }};
};

TEST_F(ReadRequest, KeepsTheClientsModelAndFindsItsServer) {
  const TestRequest one(test_, chat_body({{"model", "a/gpt-4o"}}));
  EXPECT_EQ(one.request.chat.model, "a/gpt-4o");
  EXPECT_EQ(one.request.model, "a/gpt-4o");
  EXPECT_EQ(one.attempt.location, (models::ModelLocation{0, "gpt-4o"}));
  EXPECT_FALSE(one.request.chat.altered);
}

TEST_F(ReadRequest, NamesTheFirstModelOfAServerWhereTheClientNamesNone) {
  Json body = Json::parse(chat_body());
  body.erase("model");
  const TestRequest one(test_, body.dump());
  EXPECT_EQ(one.request.chat.model, "");
  EXPECT_EQ(one.request.model, "gpt-4o");
  EXPECT_EQ(one.request.chat.body["model"], "gpt-4o");
  EXPECT_TRUE(one.request.chat.altered);
}

TEST_F(ReadRequest, RefusesARatioOutOfBounds) {
  for (const double ratio : {0.1, 0.81, -1.0}) {
    const auto request = resolved(chat_body({{"context_token_ratio", ratio}}));
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().code, Errc::bad_input);
    EXPECT_NE(request.error().what.find("between 0.2 and 0.8"), std::string::npos);
  }
  EXPECT_TRUE(resolved(chat_body({{"context_token_ratio", 0.5}})));
}

TEST_F(ReadRequest, RefusesAnIndexWithoutAStore) {
  const auto request = resolved(chat_body({{"index_name", "docs"}}));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, Errc::not_found);
}

TEST_F(ReadRequest, TakesAnIndexFromTheModelsName) {
  open_store();
  const auto request = resolved(chat_body({{"model", "gpt-4o+docs"}}));
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_EQ(request->model, "gpt-4o");
  EXPECT_EQ(request->chat.wishes.index, "docs");
  EXPECT_TRUE(request->names_index);
}

TEST_F(ReadRequest, PassesToolsOnWithoutDocumentsAndSaysSo) {
  open_store();
  const Json tool{{"type", "function"}, {"function", {{"name", "sound"}, {"parameters", Json::object()}}}};
  const auto request = resolved(chat_body({{"index_name", "docs"}, {"tools", Json::array({tool})}}));
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_TRUE(request->names_index);
  EXPECT_EQ(request->chat.wishes.index, "");
  ASSERT_EQ(request->notes.warnings.size(), 1U);
  EXPECT_EQ(request->notes.warnings[0], "documents were not looked into: the request has tools");
}

TEST_F(ReadRequest, LeavesOutOwnPassagesWhereAnIndexIsSearched) {
  open_store();
  const Json given{{"passages", {{{"id", "p"}, {"text", "The hull is 24 metres long."}}}}};
  const auto request = resolved(chat_body({{"index_name", "docs"}, {"plimsoll", given}}));
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_TRUE(request->chat.additions.passages.empty());
  ASSERT_EQ(request->notes.warnings.size(), 1U);
  const auto without = resolved(chat_body({{"plimsoll", given}}));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->chat.additions.passages.size(), 1U);
}

TEST_F(ReadRequest, ReadsNoMessagesOfARequestThatIsForwarded) {
  Ask ask = ask_with(R"({"model": "gpt-4o", "prompt": "How deep?"})");
  ask.kind = RequestKind::completion;
  const TestRequest one(test_, std::move(ask));
  EXPECT_FALSE(one.received.is_chat());
  EXPECT_EQ(one.request.model, "gpt-4o");
  EXPECT_FALSE(has_additions(test_.engine, one.received, one.request));
}

TEST_F(ReadRequest, PackingKeepsTheBody) {
  const TestRequest one(test_, chat_body(Json::object(), 40'000));
  ASSERT_TRUE(should_pack(one.received, one.request));
  const std::string before = base::json_text(one.request.chat.body);
  Request packed = pack(one.request);
  EXPECT_TRUE(packed.chat.body.is_null());
  EXPECT_FALSE(should_pack(one.received, packed));  // it is packed already
  EXPECT_EQ(base::json_text(unpack(std::move(packed)).chat.body), before);
  EXPECT_FALSE(should_pack(TestRequest(test_, chat_body()).received, one.request));
}

}  // namespace
}  // namespace plimsoll::engine
