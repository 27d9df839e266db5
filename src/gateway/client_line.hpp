// One client's connection, in bytes.
//
// It always reads ahead, a little: while a request is being answered, that is how a client that goes away is
// noticed, at no cost beyond the read that the next request needs anyway. Deadlines are kept by a sweep over
// all lines of a thread, and not by a timer for each: thousands of clients are set one at every step.
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "plimsoll/http_stream.hpp"

namespace boost::asio::ssl {
class context;
}

namespace plimsoll::gateway {

class ClientLine : public std::enable_shared_from_this<ClientLine> {
 public:
  using Clock = std::chrono::steady_clock;
  using IoError = boost::system::error_code;

  // `tls`: the client is to speak TLS; null: it speaks plainly.
  ClientLine(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);
  ~ClientLine();

  // Before anything else. An error: the client does not speak as it is to.
  Awaitable<IoError> greet();

  // What was read and not used yet.
  boost::beast::flat_buffer& held() { return held_; }
  // Comes back with more in `held`, as much as is there and `room` takes, or with the reason why there is
  // none: asio::error::timed_out after the deadline.
  Awaitable<IoError> read_more(std::size_t room);
  // Begins to read what may follow. When the client turns out to be gone, `gone` is emitted.
  void read_ahead();
  boost::asio::cancellation_signal& gone() { return gone_; }
  bool is_gone() const { return is_gone_; }

  // All of it, at once where the socket takes it. The bytes outlive the call.
  using Parts = std::array<boost::asio::const_buffer, 4>;
  Awaitable<IoError> write(Parts parts);

  void expires_after(std::chrono::milliseconds time) {
    deadline_ = Clock::now() + time;
    expired_ = false;
  }
  void expires_never() { deadline_ = Clock::time_point::max(); }
  // Ends what waits beyond its deadline.
  void sweep(Clock::time_point now);
  void shut_down_sending();
  void close();

 private:
  // Somebody who waits for `arrived`.
  struct Waiter {
    virtual ~Waiter() = default;
    virtual void resume() = 0;
  };
  void receive(std::size_t room);
  void arrived(const IoError& error, std::size_t bytes);
  Awaitable<void> until_arrived();

  struct Tls;

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Tls> tls_;
  boost::beast::flat_buffer held_;
  bool receiving_ = false;
  bool has_news_ = false;  // something arrived, or an end, and nobody has asked yet
  bool is_gone_ = false;
  bool expired_ = false;
  IoError error_;
  std::unique_ptr<Waiter> waiter_;
  boost::asio::cancellation_signal gone_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace plimsoll::gateway
