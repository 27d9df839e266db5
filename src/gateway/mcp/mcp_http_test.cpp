#include "gateway/mcp/mcp_http.hpp"

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

const McpServer& server() {
  static const McpServer made{"t", "T", "0", "", {}};
  return made;
}

TEST(McpHttp, AMessageGetsAnAnswerAndANotificationNone) {
  const McpReply pong =
      answer_mcp_post(server(), "2025-06-18", R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
  EXPECT_EQ(pong.status, 200);
  EXPECT_EQ(Json::parse(pong.body)["id"], 7);
  const McpReply none =
      answer_mcp_post(server(), "", R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(none.status, 202);
  EXPECT_TRUE(none.body.empty());
}

TEST(McpHttp, WhatIsNoMessageAndWhatIsNotSpokenIsRefused) {
  for (const char* body : {"", "  ", "{", "[]", "7", R"({"id":1})"})
    EXPECT_EQ(answer_mcp_post(server(), "2025-06-18", body).status,
              body[0] == '{' && body[1] != 0 ? 200 : 400)
        << body;
  const McpReply newer =
      answer_mcp_post(server(), "2099-01-01", R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(newer.status, 400);
  const Json error = Json::parse(newer.body)["error"];
  EXPECT_EQ(error["code"], -32022);
  EXPECT_EQ(error["data"]["supported"].size(), mcp_versions().size());
}

}  // namespace
}  // namespace plimsoll::gateway
