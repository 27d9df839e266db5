// One client's connection, in bytes.
//
// While a request is answered the line continues to read, to notice when the client disconnects. Bytes that
// arrive meanwhile are kept for the next request up to a limit; above it, bytes are dropped and the
// connection ends with the answer. Deadlines are checked by a sweep over all lines of a thread: a timer
// per client would be set again at every step.
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "plimsoll/http_stream.hpp"

namespace boost::asio::ssl {
class context;  // NOLINT(readability-identifier-naming): the library's name
}

namespace plimsoll::gateway {

class ClientLine : public std::enable_shared_from_this<ClientLine> {
 public:
  using Clock = std::chrono::steady_clock;
  using IoError = boost::system::error_code;

  // `tls`: for TLS; null: plain HTTP.
  ClientLine(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);
  ~ClientLine();

  // The TLS handshake, if any; call it first. An error: the client does not speak TLS.
  Awaitable<IoError> greet();

  // Bytes that were read but not used yet.
  boost::beast::flat_buffer& held() { return held_; }
  // Reads what is available, up to `room` bytes, into `held`; or returns the error:
  // asio::error::timed_out after the deadline.
  Awaitable<IoError> read_more(std::size_t room);

  // How to interpret the end of the client's data while its request is answered. A closed connection and a
  // half-closed one look alike until something is sent: only the closed one answers
  // with a reset.
  enum class Ended : std::uint8_t {
    is_gone,    // cannot be tested: counts as disconnected
    ask,        // send "100 Continue", which every HTTP/1.1 client ignores
    will_show,  // an answer is being sent anyway
  };
  void when_ended(Ended meaning) { when_ended_ = meaning; }
  // Starts to read ahead. Emits `gone` when the client has disconnected.
  void read_ahead();
  boost::asio::cancellation_signal& gone() { return gone_; }
  bool is_gone() const { return is_gone_; }
  // Returns whether the client has closed its sending side.
  bool has_ended() const { return ended_; }
  // Returns whether no further request can be read.
  bool must_close() const { return flooded_; }

  // Writes everything, at once if the socket accepts it. The bytes must outlive the call.
  using Parts = std::array<boost::asio::const_buffer, 4>;
  Awaitable<IoError> write(Parts parts);

  void expires_after(std::chrono::milliseconds time) {
    deadline_ = Clock::now() + time;
    expired_ = false;
  }
  void expires_never() { deadline_ = Clock::time_point::max(); }
  // Cancels waits whose deadline has passed.
  void sweep(Clock::time_point now);
  // Closes the sending side: with TLS by close_notify, which waits for the client's until the
  // deadline.
  Awaitable<void> end_sending();
  bool is_tls() const { return tls_ != nullptr; }
  void close();

 private:
  // A coroutine that waits for `arrived`.
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
  std::size_t room_ = 0;  // for the next read
  Ended when_ended_ = Ended::is_gone;
  bool receiving_ = false;
  bool watching_ = false;  // a request is answered
  bool has_news_ = false;  // data or an end has arrived but was not handled yet
  bool ended_ = false;
  bool flooded_ = false;
  bool is_gone_ = false;
  bool expired_ = false;
  IoError error_;
  std::unique_ptr<Waiter> waiter_;
  boost::asio::cancellation_signal gone_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point ask_at_ = Clock::time_point::max();  // whether a half-closed client is still there
};

}  // namespace plimsoll::gateway
