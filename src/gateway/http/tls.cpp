#include "gateway/http/tls.hpp"

#include <openssl/ssl.h>

namespace plimsoll::gateway {

namespace ssl = boost::asio::ssl;

Result<std::unique_ptr<ssl::context>> make_tls(const std::string& certificate, const std::string& key) {
  if (certificate.empty() || key.empty())
    return fail(Errc::bad_setting, "set both tls_certificate_file and tls_key_file, or neither");
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // For TLS 1.2 only ciphers with forward secrecy and authenticated encryption; 1.3 has
  // only such.
  SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  // No session cache: nothing is kept for disconnected clients.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  boost::system::error_code error;
  context->use_certificate_chain_file(certificate, error);
  if (error)
    return fail(Errc::bad_setting, "tls_certificate_file '{}' has no readable certificate: {}", certificate,
                error.message());
  context->use_private_key_file(key, ssl::context::pem, error);
  if (error)
    return fail(Errc::bad_setting, "tls_key_file '{}' has no key for the certificate: {}", key,
                error.message());
  return context;
}

}  // namespace plimsoll::gateway
