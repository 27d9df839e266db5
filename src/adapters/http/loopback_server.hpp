// For tests: a server on this machine that does to each connection what the test says.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace plimsoll::adapters {

// What a test may do with one connection. Reading and writing end quietly when the other side has gone.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // The next request, header and body, or empty when there is none.
  std::string read();
  bool write(std::string_view bytes);
  void reply(int status, std::string_view body, std::string_view headers = {});
  // Waits until the other side closes.
  void wait_for_close();

 private:
  int socket_;
  std::string buffered_;
};

class LoopbackServer {
 public:
  using Serve = std::function<void(Connection&)>;
  explicit LoopbackServer(Serve serve);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  std::string url(std::string_view path = "/") const;
  int connections() const { return connections_; }

 private:
  Serve serve_;
  int socket_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> served_;
  std::thread accepting_;
};

}  // namespace plimsoll::adapters
