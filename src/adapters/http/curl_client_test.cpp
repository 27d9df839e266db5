#include "adapters/http/curl_client.hpp"

#include <cstring>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include "adapters/http/testing.hpp"

// Stands before the system's own, so that a name server that does not answer can be had on any machine.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
  if (node != nullptr && std::strcmp(node, "stalled-name.invalid") == 0)
    std::this_thread::sleep_for(std::chrono::seconds(4));
  using Call = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(node, service, hints, result);
}

namespace plimsoll::adapters {
namespace {

using namespace std::chrono_literals;

Result<HttpReply> get(CurlClient& client, const std::string& url, Deadline::Clock::duration patience = 10s) {
  HttpRequest request;
  request.url = url;
  return client.send(request, Deadline::after(patience));
}

TEST(CurlClient, SendsMethodHeadersAndBodyAndGivesTheReply) {
  std::string seen;
  LoopbackServer server([&](Connection& connection) {
    seen = connection.read();
    connection.reply(418, "short and stout");
  });
  CurlClient client("plimsoll/test");
  HttpRequest request{
      "POST", server.url("/api/show?x=1"), {{"Authorization", "Bearer k"}, {"X-Empty", ""}}, {}};
  request.body = std::string("{\0}", 3);
  const auto reply = client.send(request, Deadline::after(10s));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->status, 418);
  EXPECT_EQ(reply->body, "short and stout");
  EXPECT_TRUE(seen.starts_with("POST /api/show?x=1 HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("User-Agent: plimsoll/test\r\n"), std::string::npos);
  EXPECT_NE(seen.find("Authorization: Bearer k\r\n"), std::string::npos);
  EXPECT_NE(seen.find("X-Empty:\r\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with(request.body));
}

TEST(CurlClient, KeepsConnectionsOpenAndUsesThemAgain) {
  LoopbackServer server([](Connection& connection) {
    while (!connection.read().empty()) connection.reply(200, "{}");
  });
  {
    CurlClient client("test");
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(get(client, server.url()));
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(CurlClient, AsksAgainWhereAKeptConnectionHasBeenClosed) {
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.reply(200, "once");
  });
  CurlClient client("test");
  for (int i = 0; i < 3; ++i) {
    const auto reply = get(client, server.url());
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(reply->body, "once");
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(CurlClient, MayBeUsedFromManyThreads) {
  LoopbackServer server([](Connection& connection) {
    for (std::string request; !(request = connection.read()).empty();)
      connection.reply(200, request.substr(0, request.find(" HTTP")));
  });
  {
    CurlClient client("test", {}, {.idle_connections = 4});
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const std::string path = "/" + std::to_string(t * 100 + i);
          const auto reply = get(client, server.url(path));
          right += reply && reply->body == "GET " + path ? 1 : 0;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 160);
  }
}

TEST(CurlClient, ComesBackByItsDeadlineWhateverTheServerDoes) {
  const LoopbackServer::Serve ways[] = {
      stall,
      [](Connection& connection) {
        connection.read();
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        connection.wait_for_close();
      },
      [](Connection& connection) {
        connection.read();
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while (connection.write("x")) std::this_thread::sleep_for(20ms);
      },
      [](Connection& connection) {
        connection.read();
        while (connection.write("HTTP/1.1 100 Continue\r\n\r\n")) std::this_thread::sleep_for(20ms);
      }};
  for (const auto& way : ways) {
    LoopbackServer server(way);
    CurlClient client("test");
    const auto begin = Deadline::Clock::now();
    expect_error(get(client, server.url("/slow"), 300ms), Errc::timed_out, "no whole reply within 0.3 s");
    const auto took = Deadline::Clock::now() - begin;
    EXPECT_GE(took, 290ms);
    EXPECT_LT(took, 300ms + slack);
  }
}

TEST(CurlClient, DoesNotWaitForANameServer) {
  CurlClient client("test");
  const auto begin = Deadline::Clock::now();
  expect_error(get(client, "http://stalled-name.invalid/", 300ms), Errc::timed_out, "stalled-name.invalid");
  EXPECT_LT(Deadline::Clock::now() - begin, 300ms + slack);
  // The thread that libcurl resolves in outlives the question; it ends before the process does.
  std::this_thread::sleep_for(5s);
}

TEST(CurlClient, AsksNobodyWhenNoTimeIsLeft) {
  LoopbackServer server(stall);
  CurlClient client("test");
  expect_error(get(client, server.url(), 0s), Errc::timed_out, "no time was left");
  EXPECT_EQ(server.connections(), 0);
}

TEST(CurlClient, HoldsNoMoreOfABodyThanItsLimit) {
  const HttpLimits limits{.body_limit_bytes = 1000};
  for (const bool says_so : {true, false}) {
    for (const std::size_t size : {999U, 1000U, 1001U, 100'000U}) {
      LoopbackServer server([=](Connection& connection) {
        connection.read();
        if (says_so) return connection.reply(200, std::string(size, 'x'));
        connection.write("HTTP/1.1 200 OK\r\n\r\n" + std::string(size, 'x'));
      });
      CurlClient client("test", {}, limits);
      const auto reply = get(client, server.url());
      if (size <= 1000) {
        ASSERT_TRUE(reply) << reply.error().what;
        EXPECT_EQ(reply->body.size(), size);
      } else {
        expect_error(reply, Errc::upstream_failed, "longer than 1.0 kB");
      }
    }
  }
}

TEST(CurlClient, StopsAHeaderThatDoesNotEnd) {
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\n");
    while (connection.write("X-More: " + std::string(1000, 'x') + "\r\n")) continue;
  });
  CurlClient client("test", {}, {.header_limit_bytes = 10'000});
  expect_error(get(client, server.url()), Errc::upstream_failed, "header is longer than 10.0 kB");
}

TEST(CurlClient, FollowsNoRedirect) {
  LoopbackServer elsewhere([](Connection& connection) {
    connection.read();
    connection.reply(200, "stolen");
  });
  LoopbackServer server([&](Connection& connection) {
    connection.read();
    connection.reply(302, "gone", "Location: " + elsewhere.url("/there") + "\r\n");
  });
  CurlClient client("test");
  const auto reply = get(client, server.url());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(reply->location, elsewhere.url("/there"));
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST(CurlClient, TellsRefusalFromAReplyThatBreaksOff) {
  std::string gone;
  {
    LoopbackServer server(stall);
    gone = server.url();
  }
  CurlClient client("test");
  expect_error(get(client, gone), Errc::unreachable, "connection refused");
  expect_error(get(client, "http://no-such-host.invalid/"), Errc::unreachable, "no-such-host.invalid");
  LoopbackServer cuts([](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  expect_error(get(client, cuts.url()), Errc::upstream_failed, "broke off");
  LoopbackServer silent([](Connection& connection) { connection.read(); });
  expect_error(get(client, silent.url()), Errc::upstream_failed, "closed without a reply");
  LoopbackServer chatter([](Connection& connection) {
    connection.read();
    connection.write("220 mail.example ESMTP\r\n");
  });
  expect_error(get(client, chatter.url()), Errc::upstream_failed, "no HTTP");
}

TEST(CurlClient, StopEndsARequestThatWaits) {
  LoopbackServer silent([](Connection& connection) {
    connection.read();
    connection.wait_for_close();
  });
  CurlClient client("test");
  std::thread stopper([&] {
    std::this_thread::sleep_for(100ms);
    client.stop();
  });
  const auto begin = Deadline::Clock::now();
  expect_error(get(client, silent.url(), 60s), Errc::unreachable, "this program stops");
  EXPECT_LT(Deadline::Clock::now() - begin, 10s);
  stopper.join();
  expect_error(get(client, silent.url(), 60s), Errc::unreachable, "this program stops");
}

TEST(CurlClient, NeverShowsKeysPasswordsOrQueries) {
  std::string gone;
  {
    LoopbackServer server(stall);
    gone = server.url("/v1/models?key=geheim");
  }
  gone.insert(7, "ann:geheim@");
  CurlClient client("test");
  for (const std::string& url :
       {gone, std::string("ftp://ann:geheim@host/"), std::string("http://a b?geheim"),
        std::string("file:///geheim"), std::string("http://ann:geheim@:x/"),
        std::string("http://h/\r\nX: geheim"), std::string("geheim")}) {
    HttpRequest request{"GET", url, {{"Authorization", "Bearer geheim"}}, {}};
    const auto reply = client.send(request, Deadline::after(2s));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().what.find("geheim"), std::string::npos) << reply.error().what;
  }
}

TEST(CurlClient, SendsNoHeaderThatWouldBecomeTwo) {
  LoopbackServer server(stall);
  CurlClient client("test");
  for (const HttpHeader& header :
       {HttpHeader{"X", "a\r\nY: b"}, HttpHeader{"X\n", "a"}, HttpHeader{"X: y", "a"}, HttpHeader{"", "a"},
        HttpHeader{"X", std::string("a\0b", 3)}}) {
    HttpRequest request{"GET", server.url(), {header}, {}};
    expect_error(client.send(request, Deadline::after(2s)), Errc::bad_input, "cannot be sent");
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST(CurlClient, UsesTheProxyOfTheEnvironmentButNeverForThisMachine) {
  std::string asked;
  LoopbackServer proxy([&](Connection& connection) {
    asked = connection.read();
    connection.reply(200, "by proxy");
  });
  LoopbackServer server([](Connection& connection) {
    connection.read();
    connection.reply(200, "direct");
  });
  ASSERT_EQ(::setenv("http_proxy", proxy.url("").c_str(), 1), 0);
  CurlClient client("test");
  const auto far = get(client, "http://far-away.invalid/x");
  const auto near = get(client, server.url());
  ::unsetenv("http_proxy");
  ASSERT_TRUE(far) << far.error().what;
  EXPECT_EQ(far->body, "by proxy");
  EXPECT_TRUE(asked.starts_with("GET http://far-away.invalid/x ")) << asked;
  ASSERT_TRUE(near) << near.error().what;
  EXPECT_EQ(near->body, "direct");
}

}  // namespace
}  // namespace plimsoll::adapters
