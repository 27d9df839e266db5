#include "adapters/http/wire.hpp"

#include <array>

#include <openssl/x509_vfy.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace plimsoll::adapters {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

bool is_number(const std::string& host) {
  IoError error;
  asio::ip::make_address(host, error);
  return !error;
}

std::array<asio::const_buffer, 2> rest_of(std::string_view head, std::string_view body, std::size_t written) {
  const std::size_t of_head = std::min(written, head.size());
  head.remove_prefix(of_head);
  body.remove_prefix(written - of_head);
  return {asio::const_buffer(head.data(), head.size()), asio::const_buffer(body.data(), body.size())};
}

}  // namespace

Wire::Wire(const asio::any_io_executor& executor, std::shared_ptr<Watch> watch)
    : socket_(executor), watch_(std::move(watch)) {}

Wire::~Wire() {
  watch_->remove(*this);
}

void Wire::expire() {
  timed_out_ = true;
  IoError ignored;
  socket_.close(ignored);
}

Awaitable<IoError> Wire::connect(tcp::endpoint endpoint, Deadline deadline) {
  const Patience patience(*watch_, *this, deadline);
  IoError error;
  socket_.open(endpoint.protocol(), error);
  if (error) co_return error;
  socket_.non_blocking(true, error);
  if (!error) socket_.set_option(tcp::no_delay(true), error);
  if (error) co_return error;
  const auto [connected] = co_await socket_.async_connect(endpoint, as_values);
  co_return connected;
}

Awaitable<IoError> Wire::start_tls(asio::ssl::context& context, const std::string& host, Deadline deadline) {
  const Patience patience(*watch_, *this, deadline);
  tls_.emplace(socket_, context);
  IoError error;
  tls_->set_verify_mode(asio::ssl::verify_peer, error);
  if (!error) tls_->set_verify_callback(asio::ssl::host_name_verification(host), error);
  if (error) co_return error;
  if (!is_number(host)) SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
  const auto [shaken] = co_await tls_->async_handshake(asio::ssl::stream_base::client, as_values);
  co_return shaken;
}

std::size_t Wire::write_now(std::string_view head, std::string_view body) {
  if (tls_) return 0;
  IoError error;
  const std::size_t written = socket_.write_some(rest_of(head, body, 0), error);
  return error ? 0 : written;
}

Awaitable<IoError> Wire::write_rest(std::string_view head, std::string_view body, std::size_t written,
                                    Deadline deadline) {
  const Patience patience(*watch_, *this, deadline);
  const auto rest = rest_of(head, body, written);
  if (tls_) {
    const auto [error, sent] = co_await asio::async_write(*tls_, rest, as_values);
    co_return error;
  }
  const auto [error, sent] = co_await asio::async_write(socket_, rest, as_values);
  co_return error;
}

Awaitable<Wire::Arrived> Wire::read(std::span<char> into, Deadline deadline) {
  const Patience patience(*watch_, *this, deadline);
  const asio::mutable_buffer free(into.data(), into.size());
  Arrived arrived;
  if (tls_) {
    const auto [error, bytes] = co_await tls_->async_read_some(free, as_values);
    arrived.error = error;
    arrived.bytes = bytes;
  } else {
    const auto [error, bytes] = co_await socket_.async_read_some(free, as_values);
    arrived.error = error;
    arrived.bytes = bytes;
  }
  co_return arrived;
}

std::string Wire::refusal() {
  if (!tls_) return {};
  const long verdict = SSL_get_verify_result(tls_->native_handle());
  return verdict == X509_V_OK ? std::string() : X509_verify_cert_error_string(verdict);
}

}  // namespace plimsoll::adapters
