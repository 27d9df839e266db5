#include "contract/http/http_contract.hpp"

namespace plimsoll {

using adapters::Connection;
using adapters::LoopbackServer;
using namespace std::chrono_literals;

Result<HttpReply> HttpContract::get(const std::string& url, std::chrono::milliseconds patience) {
  HttpRequest request;
  request.url = url;
  return send_(request, Deadline::after(patience));
}

void HttpContract::expect_error(const Result<HttpReply>& reply, Errc code) {
  ASSERT_FALSE(reply) << reply->status << " " << reply->body;
  EXPECT_EQ(name_of(reply.error().code), name_of(code)) << reply.error().what;
  EXPECT_FALSE(reply.error().what.empty());
}

TEST_P(HttpContract, SendsMethodHeadersAndBody) {
  std::string seen;
  LoopbackServer server([&](Connection& connection) {
    seen = connection.read();
    connection.reply(200, "{}");
  });
  const HttpRequest request{
      "POST", server.url("/api/show?x=1"), {{"Authorization", "Bearer k"}}, std::string("a\0b", 3)};
  const auto reply = send_(request, Deadline::after(10s));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_TRUE(seen.starts_with("POST /api/show?x=1 HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("Authorization: Bearer k\r\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with(request.body));
}

TEST_P(HttpContract, AReplyOfAnyStatusIsAValue) {
  for (const int status : {200, 404, 429, 500, 503}) {
    LoopbackServer server([&](Connection& connection) {
      connection.read();
      connection.reply(status, "said");
    });
    const auto reply = get(server.url());
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(reply->status, status);
    EXPECT_EQ(reply->body, "said");
  }
}

TEST_P(HttpContract, RedirectsAreNotFollowed) {
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.reply(302, "", "Location: http://127.0.0.1:1/\r\n");
  });
  const auto reply = get(server.url());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(server.connections(), 1);
}

TEST_P(HttpContract, ALongBodyArrivesWhole) {
  std::string body(3'000'000, 'x');
  for (std::size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>('a' + i % 26);
  LoopbackServer server([&](Connection& connection) {
    connection.read();
    connection.reply(200, body);
  });
  const auto reply = get(server.url());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->body, body);
}

TEST_P(HttpContract, ComesBackByItsDeadline) {
  LoopbackServer silent([](Connection& connection) {
    connection.read();
    connection.wait_for_close();
  });
  LoopbackServer stalling([](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    connection.wait_for_close();
  });
  for (const std::string& url : {silent.url(), stalling.url()}) {
    const auto begin = Deadline::Clock::now();
    expect_error(get(url, 300ms), Errc::timed_out);
    EXPECT_LT(Deadline::Clock::now() - begin, 5s);
  }
}

TEST_P(HttpContract, AsksNobodyWithoutTime) {
  LoopbackServer server([](Connection& connection) { connection.reply(200, "{}"); });
  expect_error(get(server.url(), 0ms), Errc::timed_out);
}

TEST_P(HttpContract, NobodyThereIsUnreachable) {
  std::string url;
  {
    url = LoopbackServer([](Connection&) {}).url();
  }
  expect_error(get(url), Errc::unreachable);
}

TEST_P(HttpContract, AReplyThatBreaksOffIsAnError) {
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  expect_error(get(server.url()), Errc::upstream_failed);
}

TEST_P(HttpContract, WhatIsNoHttpIsAnError) {
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.write("Ahoy there, who goes?\r\n\r\n");
  });
  expect_error(get(server.url()), Errc::upstream_failed);
}

TEST_P(HttpContract, WhatCannotBeSentIsBadInput) {
  LoopbackServer server([](Connection& connection) { connection.reply(200, "{}"); });
  for (const char* url : {"", "no url", "ftp://127.0.0.1/x", "http://"})
    expect_error(get(url), Errc::bad_input);
  const HttpRequest two{"GET", server.url(), {{"X-One", "a\r\nX-Two: b"}}, {}};
  expect_error(send_(two, Deadline::after(10s)), Errc::bad_input);
}

TEST_P(HttpContract, SecretsAreInNoMessage) {
  std::string url;
  {
    url = LoopbackServer([](Connection&) {}).url("/path?key=query-secret");
  }
  const std::string with_password = "http://user:password-secret@" + url.substr(7);
  const HttpRequest request{"GET", with_password, {{"Authorization", "Bearer header-secret"}}, {}};
  const auto reply = send_(request, Deadline::after(10s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().what.find("secret"), std::string::npos) << reply.error().what;
}

TEST_P(HttpContract, ConnectionsAreUsedAgain) {
  auto server = std::make_unique<LoopbackServer>([](Connection& connection) {
    while (!connection.read().empty()) connection.reply(200, "{}");
  });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(get(server->url()));
  EXPECT_EQ(server->connections(), 1);
  send_ = nullptr;  // closes the connection that the server's thread waits for
}

}  // namespace plimsoll
