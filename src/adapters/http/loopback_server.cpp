#include "adapters/http/loopback_server.hpp"

#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace plimsoll::adapters {

Connection::~Connection() {
  ::close(socket_);
}

std::string Connection::read() {
  const auto more = [this] {
    char bytes[4096];
    const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
    if (size > 0) buffered_.append(bytes, static_cast<std::size_t>(size));
    return size > 0;
  };
  std::size_t end = 0;
  while ((end = buffered_.find("\r\n\r\n")) == std::string::npos)
    if (!more()) return {};
  std::size_t whole = end + 4;
  if (const std::size_t at = buffered_.find("Content-Length: "); at < end)
    whole += std::strtoul(buffered_.c_str() + at + 16, nullptr, 10);
  while (buffered_.size() < whole)
    if (!more()) return {};
  std::string request = buffered_.substr(0, whole);
  buffered_.erase(0, whole);
  return request;
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Connection::reply(int status, std::string_view body, std::string_view headers) {
  write(fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), headers, body));
}

void Connection::wait_for_close() {
  char bytes[4096];
  while (::recv(socket_, bytes, sizeof bytes, 0) > 0) continue;
}

LoopbackServer::LoopbackServer(Serve serve)
    : serve_(std::move(serve)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_, where, size) != 0 || ::listen(socket_, 64) != 0 ||
      ::getsockname(socket_, where, &size) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] {
    for (int accepted = 0; (accepted = ::accept(socket_, nullptr, nullptr)) >= 0;) {
      ++connections_;
      const std::lock_guard lock(mutex_);
      served_.emplace_back([this, accepted] {
        Connection connection(accepted);
        serve_(connection);
      });
    }
  });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(socket_, SHUT_RDWR);  // wakes accept()
  accepting_.join();
  ::close(socket_);
  for (std::thread& one : served_) one.join();
}

std::string LoopbackServer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

}  // namespace plimsoll::adapters
