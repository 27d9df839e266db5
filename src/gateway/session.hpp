// One client's connection: requests in, replies out, one after the other.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_set>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "gateway/client_reply.hpp"
#include "gateway/memory_budget.hpp"

namespace plimsoll::gateway {

class Session;

// What all sessions of one thread share with it.
struct Berths {
  ThreadCrew& crew;
  const ServerOptions& options;
  const Handler& handler;
  boost::asio::ssl::context* tls;  // null: clients speak plainly
  MemoryBudget& memory;            // of all threads, as are the connections
  std::atomic<std::size_t>& connections;
  const std::atomic<bool>& draining;
  std::unordered_set<Session*> sessions{};
};

class Session {
 public:
  // One that is not welcome is told that there are too many, and nothing of it is read.
  Session(boost::asio::ip::tcp::socket socket, Berths& berths, bool is_welcome);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Until the client or we have enough. To be spawned with the line's `gone` as its cancellation slot.
  Awaitable<void> run();
  std::shared_ptr<ClientLine> line() const { return line_; }
  // Ends what waits beyond its deadline.
  void sweep(ClientLine::Clock::time_point now) { line_->sweep(now); }
  // Closes it unless a request is under way, or may be: who has just come has a second to say the first one.
  void close_if_idle();
  void close();

 private:
  using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Next { request, nothing };
  Awaitable<Next> serve_one();
  Awaitable<bool> read_head(RequestParser& parser);
  Awaitable<bool> read_body(RequestParser& parser, HeldMemory& memory);
  Awaitable<bool> unpack(ClientRequest& request, HeldMemory& memory);
  Awaitable<bool> read_more(std::size_t room);
  void skip_blank_lines(int& skipped);
  Awaitable<void> end();
  Awaitable<void> let_it_finish();
  Awaitable<void> handle(ClientRequest& request, SocketReply& reply);
  Awaitable<void> refuse(int status, const std::string& what, std::vector<HttpHeader> headers = {});
  Awaitable<void> refuse_for_memory(std::size_t body);
  Awaitable<void> turn_away();
  Awaitable<void> complain(const boost::system::error_code& error);

  // Outlives the session by the read that is under way when it ends.
  std::shared_ptr<ClientLine> line_;
  Berths& berths_;
  const bool is_welcome_;
  bool from_here_ = false;
  bool busy_ = false;
  bool fresh_ = true;    // nothing was asked yet
  bool unread_ = false;  // the last request was not read to its end
};

}  // namespace plimsoll::gateway
