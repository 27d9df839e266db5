// One connection to a server, perhaps through a proxy and with TLS: bytes out, bytes in, each wait with its
// deadline. Knows nothing of requests and replies.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "adapters/http/url.hpp"
#include "adapters/http/watch.hpp"
#include "plimsoll/http_stream.hpp"

namespace plimsoll::adapters {

using IoError = boost::system::error_code;

class Wire final : public Watched {
 public:
  Wire(const boost::asio::any_io_executor& executor, std::shared_ptr<Watch> watch);
  ~Wire();

  Awaitable<IoError> connect(boost::asio::ip::tcp::endpoint endpoint, Deadline deadline);
  // From here on everything is encrypted. The certificate is checked, for this host.
  Awaitable<IoError> start_tls(boost::asio::ssl::context& context, const std::string& host,
                               Deadline deadline);

  // As much as the system takes at once, without waiting; 0 on failure too, which the next wait shows.
  std::size_t write_now(std::string_view head, std::string_view body);
  Awaitable<IoError> write_rest(std::string_view head, std::string_view body, std::size_t written,
                                Deadline deadline);

  // The next bytes, once there are any.
  struct Arrived {
    IoError error{};
    std::size_t bytes = 0;
  };
  Awaitable<Arrived> read(std::span<char> into, Deadline deadline);

  // A deadline passed. The connection is closed then, so that every wait ends.
  bool timed_out() const { return timed_out_; }
  // Why the certificate was refused, or empty.
  std::string refusal();

  void expire() override;

 private:
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<Watch> watch_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  bool timed_out_ = false;
};

}  // namespace plimsoll::adapters
