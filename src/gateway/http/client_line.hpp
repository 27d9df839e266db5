// One client's connection, in bytes.
//
// While a request is being answered the line goes on reading, which is how a client that leaves is noticed.
// What it sends meanwhile is kept for the next request up to a bound; beyond it, bytes are dropped and the
// connection ends with the answer. Deadlines are kept by a sweep over all lines of a thread, and not by a
// timer for each: thousands of clients are set one at every step.
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

  // What the end of the client's sending means while its request is answered. One that has closed and one
  // that has shut its sending side alone look alike until something is sent to it: only the first answers
  // with a reset.
  enum class Ended : std::uint8_t {
    is_gone,    // cannot be asked: taken for gone
    ask,        // is sent "100 Continue", which every client of HTTP/1.1 passes over
    will_show,  // it is being sent an answer anyway
  };
  void when_ended(Ended meaning) { when_ended_ = meaning; }
  // Begins to read what may follow. When the client turns out to be gone, `gone` is emitted.
  void read_ahead();
  boost::asio::cancellation_signal& gone() { return gone_; }
  bool is_gone() const { return is_gone_; }
  // Whether the client has ended its sending.
  bool has_ended() const { return ended_; }
  // Whether no further request can be taken from it.
  bool must_close() const { return flooded_; }

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
  // Says that nothing more will be sent: in TLS by close_notify, which waits for the client's until the
  // deadline.
  Awaitable<void> end_sending();
  bool is_tls() const { return tls_ != nullptr; }
  void close();

 private:
  // Somebody who waits for `arrived`.
  struct Waiter {
    virtual ~Waiter() = default;
    virtual void resume() = 0;
  };
  void receive();
  void is_readable(IoError error);
  void arrived(const IoError& error);
  void watch_answered(const IoError& error);
  void ended_sending();
  void watch_for_reset();
  void left();
  Awaitable<void> until_arrived();

  struct Tls;

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Tls> tls_;
  boost::beast::flat_buffer held_;
  std::size_t room_ = 0;  // that the next read may fill
  Ended when_ended_ = Ended::is_gone;
  bool receiving_ = false;
  bool watching_ = false;  // a request is being answered
  bool has_news_ = false;  // something arrived, or an end, and nobody has asked yet
  bool ended_ = false;
  bool flooded_ = false;
  bool is_gone_ = false;
  bool expired_ = false;
  IoError error_;
  std::unique_ptr<Waiter> waiter_;
  boost::asio::cancellation_signal gone_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace plimsoll::gateway
