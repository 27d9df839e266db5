// One client's connection: requests in, replies out, one after the other.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_set>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "gateway/error_json.hpp"
#include "gateway/http/client_reply.hpp"
#include "gateway/limits/memory_budget.hpp"

namespace plimsoll::gateway {

class Connection;

// State that all connections of one thread share.
struct ConnectionContext {
  ServerThread& thread;
  const ServerOptions& options;
  const Handler& handler;
  boost::asio::ssl::context* tls;  // null: plain HTTP
  MemoryBudget& memory;            // shared by all threads, and with the server that this one replaces
  std::atomic<std::size_t>& connections;
  const std::atomic<bool>& draining;
  std::unordered_set<Connection*> open{};
};

class Connection {
 public:
  // If not `is_welcome`, it is refused because there are too many, and nothing is read.
  Connection(boost::asio::ip::tcp::socket socket, ConnectionContext& context, bool is_welcome);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs until the client or the server ends the connection. Spawn it with the line's `gone` as cancellation
  // slot.
  Awaitable<void> run();
  std::shared_ptr<ClientLine> line() const { return line_; }
  // Cancels waits whose deadline has passed.
  void sweep(ClientLine::Clock::time_point now) { line_->sweep(now); }
  // Closes it unless a request is running; a new connection has a second to send its first request.
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

  // Outlives the connection while its last read is running.
  std::shared_ptr<ClientLine> line_;
  ConnectionContext& context_;
  const bool is_welcome_;
  bool from_here_ = false;
  bool busy_ = false;
  bool fresh_ = true;                     // no request yet
  bool unread_ = false;                   // the last request was not read completely
  ErrorForm errors_ = ErrorForm::openai;  // of the request that is being read
};

}  // namespace plimsoll::gateway
