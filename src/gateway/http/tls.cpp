#include "gateway/http/tls.hpp"

#include <openssl/ssl.h>

namespace plimsoll::gateway {

namespace ssl = boost::asio::ssl;

Result<std::unique_ptr<ssl::context>> make_tls(const std::string& certificate, const std::string& key) {
  if (certificate.empty() || key.empty())
    return fail(Errc::bad_setting, "tls_certificate_file and tls_key_file go together: set both, or neither");
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // In TLS 1.2 what keeps recordings unreadable after the key has leaked, and seals what it encrypts; 1.3 has
  // nothing else.
  SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Clients that ask for their session again are greeted anew: nothing is kept for those that left.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  boost::system::error_code error;
  context->use_certificate_chain_file(certificate, error);
  if (error)
    return fail(Errc::bad_setting, "tls_certificate_file '{}' holds no certificate that can be read: {}",
                certificate, error.message());
  context->use_private_key_file(key, ssl::context::pem, error);
  if (error)
    return fail(Errc::bad_setting, "tls_key_file '{}' holds no key that fits the certificate: {}", key,
                error.message());
  return context;
}

}  // namespace plimsoll::gateway
