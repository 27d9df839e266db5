#include "adapters/http/streams.hpp"

#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "adapters/http/awaiting.hpp"
#include "adapters/http/testing.hpp"

namespace plimsoll::adapters {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Opened = Result<std::unique_ptr<HttpStream>>;

class Streams : public testing::Test {
 protected:
  Opened open(HttpRequest request, Deadline::Clock::duration patience = 10s) {
    return wait_for(io_, streams_->open(std::move(request), Deadline::after(patience)));
  }
  Opened get(std::string url, Deadline::Clock::duration patience = 10s) {
    HttpRequest request;
    request.url = std::move(url);
    return open(std::move(request), patience);
  }
  Result<std::string_view> read(HttpStream& stream, Deadline::Clock::duration patience = 10s) {
    return wait_for(io_, stream.read(Deadline::after(patience)));
  }
  Result<std::string> rest_of(HttpStream& stream) {
    std::string whole;
    while (true) {
      const auto bytes = read(stream);
      if (!bytes) return tl::unexpected(bytes.error());
      if (bytes->empty()) return whole;
      whole += *bytes;
    }
  }
  // The whole body, or why there is none.
  Result<std::string> body_at(const std::string& url) {
    auto stream = get(url);
    if (!stream) return tl::unexpected(stream.error());
    return rest_of(**stream);
  }
  void make(StreamOptions options) { streams_ = make_streams(io_.get_executor(), std::move(options)); }

  // Its threads may wait until kept connections are closed, so those go first.
  class Server : public LoopbackServer {
   public:
    Server(Streams& test, Serve serve) : LoopbackServer(std::move(serve)), test_(test) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { test_.make({}); }

   private:
    Streams& test_;
  };

  asio::io_context io_{1};
  std::unique_ptr<HttpStreams> streams_ = make_streams(io_.get_executor(), {});
};

std::string twenty_megabytes() {
  std::string out;
  out.resize(20'000'000, 'y');
  return out;
}

LoopbackServer::Serve always(std::string reply) {
  return [reply = std::move(reply)](Connection& connection) {
    while (!connection.read().empty()) connection.write(reply);
  };
}

TEST_F(Streams, SendMethodHeadersAndBodyAndGiveTheReply) {
  std::string seen;
  Server server(*this, [&](Connection& connection) {
    seen = connection.read();
    connection.reply(418, "short and stout", "X-Pot: Tea\r\n");
  });
  make({.agent = "plimsoll/test"});
  HttpRequest request{"POST", server.url("/v1/chat?x=1#there"), {{"Authorization", "Bearer k"}}, {}};
  request.body = std::string("{\0}", 3);
  auto stream = open(request);
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ((*stream)->head().status, 418);
  EXPECT_EQ((*stream)->head().header("x-pot"), "Tea");
  EXPECT_EQ(rest_of(**stream).value_or("?"), "short and stout");
  EXPECT_EQ(read(**stream).value_or("?"), "");
  EXPECT_TRUE(seen.starts_with("POST /v1/chat?x=1 HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("\r\nHost: 127.0.0.1:"), std::string::npos) << seen;
  EXPECT_NE(seen.find("\r\nUser-Agent: plimsoll/test\r\n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("\r\nAuthorization: Bearer k\r\n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("\r\nContent-Length: 3\r\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with(request.body)) << seen;
}

TEST_F(Streams, HandOutSmallChunksThatArrivedTogetherAsOne) {
  Server server(*this, always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "3\r\nabc\r\nA;x=y\r\n0123456789\r\n1\r\n!\r\n0\r\nTrailer: t\r\n\r\n"));
  for (int i = 0; i < 3; ++i) {
    auto stream = get(server.url());
    ASSERT_TRUE(stream) << stream.error().what;
    EXPECT_EQ(read(**stream).value_or("?"), "abc0123456789!");
    EXPECT_EQ(read(**stream).value_or("?"), "");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Streams, HandOutWhatHasComeWithoutWaitingForMore) {
  std::atomic<bool> go_on = false;
  Server server(*this, [&](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    while (!go_on) std::this_thread::sleep_for(1ms);
    connection.write("6\r\nsecond\r\n0\r\n\r\n");
    connection.wait_for_close();
  });
  {
    auto stream = get(server.url());
    ASSERT_TRUE(stream) << stream.error().what;
    EXPECT_EQ(read(**stream).value_or("?"), "first");
    go_on = true;
    EXPECT_EQ(rest_of(**stream).value_or("?"), "second");
  }
}

TEST_F(Streams, TakeABodyThatEndsWithItsConnection) {
  Server server(*this, [](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.0 200 OK\r\n\r\n" + std::string(100'000, 'x'));
  });
  EXPECT_EQ(body_at(server.url()).value_or("?").size(), 100'000U);
}

TEST_F(Streams, UseConnectionsAgainThatAreFree) {
  Server server(*this, always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(body_at(server.url()).value_or("?"), "{}");
  EXPECT_EQ(server.connections(), 1);
  {
    auto first = get(server.url());
    auto second = get(server.url());
    ASSERT_TRUE(first && second);
    EXPECT_EQ(server.connections(), 2);
  }
}

TEST_F(Streams, KeepNoConnectionThatTheServerWantsClosed) {
  Server server(*this, always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(body_at(server.url()).value_or("?"), "{}");
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(Streams, ReplaceAKeptConnectionThatHasDied) {
  Server server(*this, [](Connection& connection) {
    connection.read();
    connection.reply(200, "once");
  });
  for (int i = 0; i < 3; ++i) {
    const auto body = body_at(server.url());
    EXPECT_EQ(body.value_or("?"), "once") << body.error().what;
    std::this_thread::sleep_for(20ms);  // until the other side has closed
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(Streams, AskOnceMoreAndNotForEver) {
  std::atomic<int> asked = 0;
  Server server(*this, [&](Connection& connection) {
    while (!connection.read().empty())
      if (++asked == 1)
        connection.reply(200, "kept");
      else
        return;
  });
  EXPECT_EQ(body_at(server.url()).value_or("?"), "kept");
  expect_error(get(server.url()), Errc::io_failed, "closed without a reply");
  EXPECT_EQ(asked, 3);
}

TEST_F(Streams, CloseWhatHasBeenIdleForTooLong) {
  make({.idle_age = 50ms});
  std::atomic<int> closed = 0;
  Server server(*this, [&](Connection& connection) {
    while (!connection.read().empty()) connection.reply(200, "{}");
    ++closed;
  });
  EXPECT_EQ(body_at(server.url()).value_or("?"), "{}");
  asio::steady_timer timer(io_, 500ms);
  timer.async_wait([&](boost::system::error_code) { io_.stop(); });
  io_.restart();
  io_.run();
  EXPECT_EQ(closed, 1);
}

TEST_F(Streams, ComeBackByTheDeadline) {
  const LoopbackServer::Serve ways[] = {stall,
                                        [](Connection& connection) {
                                          connection.read();
                                          connection.write("HTTP/1.1 200 OK\r\nContent-Le");
                                          connection.wait_for_close();
                                        },
                                        [](Connection& connection) {
                                          connection.read();
                                          while (connection.write("HTTP/1.1 100 Continue\r\n\r\n"))
                                            std::this_thread::sleep_for(20ms);
                                        }};
  for (const auto& way : ways) {
    Server server(*this, way);
    const auto begin = Deadline::Clock::now();
    expect_error(get(server.url("/slow?key=geheim"), 300ms), Errc::timed_out, "/slow: no reply within 0.3 s");
    const auto took = Deadline::Clock::now() - begin;
    EXPECT_GE(took, 290ms);
    EXPECT_LT(took, 300ms + slack);
  }
}

TEST_F(Streams, EndAReplyThatStalls) {
  Server server(*this, [](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    connection.wait_for_close();
  });
  auto stream = get(server.url());
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ(read(**stream).value_or("?"), "half");
  const auto begin = Deadline::Clock::now();
  expect_error(read(**stream, 200ms), Errc::timed_out, "stalled: nothing more came within 0.2 s");
  EXPECT_LT(Deadline::Clock::now() - begin, 200ms + slack);
  expect_error(read(**stream), Errc::upstream_failed, "broke off");
}

TEST_F(Streams, DoNotWaitForANameServer) {
  // Held up by the getaddrinfo of curl_client_test.cpp.
  const auto begin = Deadline::Clock::now();
  expect_error(get("http://stalled-name.invalid/", 300ms), Errc::timed_out, "stalled-name.invalid");
  EXPECT_LT(Deadline::Clock::now() - begin, 300ms + slack);
  make({.connect_timeout = 200ms});
  expect_error(get("http://stalled-name.invalid/"), Errc::unreachable, "no connection within 0.2 s");
}

TEST_F(Streams, AskNobodyWhenNoTimeIsLeft) {
  Server server(*this, stall);
  expect_error(get(server.url(), 0s), Errc::timed_out, "no time was left");
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(Streams, SayWhatIsWrongWithAReply) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, std::string_view> replies[] = {
      {"", "closed without a reply"},
      {"HTTP/1.1 200 OK\r\nCont", "broke off"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "broke off"},
      {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhalf", "no HTTP"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nha", "no HTTP"},
      {"220 mail.example ESMTP\r\n", "no HTTP"},
      {std::string("\0\1\2\3", 4), "no HTTP"},
      {"HTTP/1.1 2000 OK\r\n\r\n", "no HTTP"},
      {chunked, "broke off"},
      {chunked + "5\r\nhal", "broke off"},
      {chunked + "5\r\nwhole\r\n", "broke off"},
      {chunked + "5\r\nwhole\r\n0\r\n", "broke off"},
      {chunked + "5\r\nwhole!", "not as HTTP has them"},
      {chunked + "xyz\r\n", "not as HTTP has them"},
      {chunked + "fffffffffffffffffffff\r\n", "not as HTTP has them"},
      {chunked + "-1\r\n", "not as HTTP has them"}};
  for (const auto& [reply, words] : replies) {
    Server server(*this, [&](Connection& connection) {
      connection.read();
      connection.write(reply);
    });
    // Without a single byte, the request may be sent again.
    expect_error(body_at(server.url()), reply.empty() ? Errc::io_failed : Errc::upstream_failed, words);
  }
}

TEST_F(Streams, StopAHeaderThatDoesNotEnd) {
  for (const std::size_t limit : {1'000U, 10'000U, 100'000U}) {
    Server server(*this, [](Connection& connection) {
      connection.read();
      connection.write("HTTP/1.1 200 OK\r\n");
      while (connection.write("X-More: " + std::string(1000, 'x') + "\r\n")) continue;
    });
    make({.header_limit_bytes = limit});
    expect_error(get(server.url()), Errc::upstream_failed, "header is longer than");
  }
}

TEST_F(Streams, TakeAHeaderLongerThanOneRead) {
  Server server(*this, [](Connection& connection) {
    connection.read();
    connection.reply(200, "body", "X-Long: " + std::string(50'000, 'x') + "\r\n");
  });
  auto stream = get(server.url());
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ((*stream)->head().header("x-long").size(), 50'000U);
  EXPECT_EQ(rest_of(**stream).value_or("?"), "body");
}

TEST_F(Streams, PassOverInterimReplies) {
  Server server(*this, always("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(body_at(server.url()).value_or("?"), "ok");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Streams, KnowRepliesWithoutABody) {
  Server server(*this, always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
  HttpRequest request{"HEAD", server.url(), {}, {}};
  for (int i = 0; i < 2; ++i) {
    auto stream = open(request);
    ASSERT_TRUE(stream) << stream.error().what;
    EXPECT_EQ(rest_of(**stream).value_or("?"), "");
  }
  EXPECT_EQ(server.connections(), 1);
  Server none(*this, always("HTTP/1.1 204 No Content\r\n\r\n"));
  EXPECT_EQ(body_at(none.url()).value_or("?"), "");
}

TEST_F(Streams, CloseAReplyThatIsGivenUp) {
  std::atomic<bool> closed = false;
  Server server(*this, [&](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    connection.wait_for_close();
    closed = true;
  });
  auto stream = get(server.url());
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ(read(**stream).value_or("?"), "first");
  EXPECT_FALSE(closed);
  stream->reset();
  for (int i = 0; i < 200 && !closed; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(closed);
}

Awaitable<bool> cancelled_after(HttpStreams& streams, HttpRequest request,
                                std::chrono::milliseconds patience) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, patience);
  const auto first = co_await (streams.open(std::move(request), Deadline::after(20s)) ||
                               timer.async_wait(asio::use_awaitable));
  co_return first.index() == 1;
}

TEST_F(Streams, MayBeCancelledWhileTheyWait) {
  std::atomic<bool> closed = false;
  Server server(*this, [&](Connection& connection) {
    stall(connection);
    closed = true;
  });
  HttpRequest request{"POST", server.url(), {}, "{}"};
  EXPECT_TRUE(wait_for(io_, cancelled_after(*streams_, request, 100ms)));
  for (int i = 0; i < 200 && !closed; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(closed);
  request.url = "http://stalled-name.invalid/";
  EXPECT_TRUE(wait_for(io_, cancelled_after(*streams_, request, 100ms)));
}

TEST_F(Streams, SlowAServerDownThatNobodyReadsFrom) {
  std::atomic<std::size_t> sent = 0;
  const std::string piece(65'536, 'x');
  Server server(*this, [&](Connection& connection) {
    connection.read();
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    while (sent < (std::size_t{1} << 30) && connection.write(piece)) sent += piece.size();
  });
  auto stream = get(server.url());
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_FALSE(read(**stream)->empty());
  std::size_t before = 0;
  do {
    before = sent;
    std::this_thread::sleep_for(300ms);
  } while (sent != before);
  EXPECT_LT(sent, std::size_t{1} << 26);  // what the system's buffers hold
  stream->reset();
}

TEST_F(Streams, SendLongRequestsAndTakeLongReplies) {
  const std::string body = twenty_megabytes();
  std::size_t seen = 0;
  Server server(*this, [&](Connection& connection) {
    seen = connection.read().size();
    connection.reply(200, body);
  });
  auto stream = open({"POST", server.url(), {}, body}, 30s);
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ(rest_of(**stream).value_or("?"), body);
  EXPECT_GT(seen, body.size());
}

TEST_F(Streams, HearAServerThatAnswersBeforeItHasReadEverything) {
  Server server(*this, [](Connection& connection) {
    connection.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    connection.wait_for_close();
  });
  auto stream = open({"POST", server.url(), {}, twenty_megabytes()}, 20s);
  ASSERT_TRUE(stream) << stream.error().what;
  EXPECT_EQ((*stream)->head().status, 413);
}

TEST_F(Streams, SayThatNobodyAnswers) {
  std::string gone;
  {
    Server server(*this, stall);
    gone = server.url("/v1/models?key=geheim");
  }
  expect_error(get(gone), Errc::unreachable, "connection refused");
  expect_error(get("http://no-such-host.invalid/"), Errc::unreachable, "no-such-host.invalid");
  gone.insert(7, "ann:geheim@");
  for (const std::string& url :
       {gone, std::string("ftp://ann:geheim@host/"), std::string("http://a b?geheim"),
        std::string("http://ann:geheim@:80/"), std::string("http://ann:geheim@h:x/"),
        std::string("http://h/\r\nX: geheim"), std::string("geheim"), std::string("http://[geheim/")}) {
    const auto stream = get(url, 2s);
    ASSERT_FALSE(stream) << url;
    EXPECT_EQ(stream.error().what.find("geheim"), std::string::npos) << stream.error().what;
  }
}

TEST_F(Streams, SendNoHeaderThatWouldBecomeTwo) {
  Server server(*this, stall);
  for (const HttpHeader& header :
       {HttpHeader{"X", "a\r\nY: b"}, HttpHeader{"X\n", "a"}, HttpHeader{"X: y", "a"}, HttpHeader{"", "a"}})
    expect_error(open({"GET", server.url(), {header}, {}}), Errc::bad_input, "cannot be sent");
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(Streams, UseTheProxyOfTheEnvironmentButNeverForThisMachine) {
  std::string asked;
  Server proxy(*this, [&](Connection& connection) {
    asked = connection.read();
    connection.reply(200, "by proxy");
  });
  Server server(*this, [](Connection& connection) {
    connection.read();
    connection.reply(200, "direct");
  });
  std::string address = proxy.url("");
  address.insert(7, "ann:pass%20word@");
  ASSERT_EQ(::setenv("http_proxy", address.c_str(), 1), 0);
  make({});
  ::unsetenv("http_proxy");
  EXPECT_EQ(body_at("http://far-away.invalid/x?y").value_or("?"), "by proxy");
  EXPECT_TRUE(asked.starts_with("GET http://far-away.invalid/x?y HTTP/1.1\r\nHost: far-away.invalid\r\n"))
      << asked;
  EXPECT_NE(asked.find("\r\nProxy-Authorization: Basic YW5uOnBhc3Mgd29yZA==\r\n"), std::string::npos)
      << asked;
  EXPECT_EQ(body_at(server.url()).value_or("?"), "direct");
}

TEST_F(Streams, MayEndBeforeTheirStreams) {
  Server server(*this, always("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"));
  auto stream = get(server.url());
  ASSERT_TRUE(stream) << stream.error().what;
  streams_.reset();
  EXPECT_EQ(rest_of(**stream).value_or("?"), "body");
}

}  // namespace
}  // namespace plimsoll::adapters
