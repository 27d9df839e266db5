// One client's connection: requests in, replies out, one after the other.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_set>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "gateway/client_reply.hpp"

namespace plimsoll::gateway {

class Session;

// What all sessions of one thread share with it.
struct Berths {
  ThreadCrew& crew;
  const ServerOptions& options;
  const Handler& handler;
  std::atomic<std::size_t>& connections;  // of all threads
  const std::atomic<bool>& draining;
  std::unordered_set<Session*> sessions{};
};

class Session {
 public:
  Session(boost::asio::ip::tcp::socket socket, Berths& berths);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Until the client or we have enough.
  Awaitable<void> run();
  // Closes it unless a request is under way.
  void close_if_idle();
  void close();

 private:
  enum class Next { request, nothing };
  Awaitable<Next> serve_one();
  Awaitable<void> handle(ClientRequest& request, SocketReply& reply);
  Awaitable<void> until_gone();
  Awaitable<void> refuse(int status, const std::string& what);

  boost::beast::tcp_stream stream_;
  Berths& berths_;
  boost::beast::flat_buffer buffer_;
  bool busy_ = false;
};

}  // namespace plimsoll::gateway
