// TLS and the way through a proxy, with a certificate made here.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/http/awaiting.hpp"
#include "adapters/http/streams.hpp"

namespace plimsoll::adapters {
namespace {

using namespace std::chrono_literals;

struct Certificate {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* x509 = X509_new();

  explicit Certificate(const std::string& names) {
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_set_pubkey(x509, key);
    X509_NAME* name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1,
                               -1, 0);
    X509_set_issuer_name(x509, name);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(x509, key, EVP_sha256());
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  ~Certificate() {
    X509_free(x509);
    EVP_PKEY_free(key);
  }
  void write_to(const std::filesystem::path& path) const {
    BIO* file = BIO_new_file(path.c_str(), "w");
    PEM_write_bio_X509(file, x509);
    BIO_free(file);
  }
};

// Answers every request on every connection; as a proxy it first agrees to whatever it should connect to.
class TlsServer {
 public:
  TlsServer(const Certificate& certificate, bool as_proxy)
      : context_(SSL_CTX_new(TLS_server_method())), as_proxy_(as_proxy) {
    SSL_CTX_use_certificate(context_, certificate.x509);
    SSL_CTX_use_PrivateKey(context_, certificate.key);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, where, size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, where, &size) != 0)
      std::abort();
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int accepted = 0; (accepted = ::accept(socket_, nullptr, nullptr)) >= 0;) {
        ++connections;
        serve(accepted);
        ::close(accepted);
      }
    });
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
    SSL_CTX_free(context_);
  }

  int port = 0;
  std::atomic<int> connections = 0;
  std::string connect_line;
  std::string server_name;

 private:
  void serve(int socket) {
    char bytes[8192];
    if (as_proxy_) {
      const ssize_t size = ::recv(socket, bytes, sizeof bytes, 0);
      connect_line.assign(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
      const std::string_view reply = "HTTP/1.1 200 Connection established\r\n\r\n";
      ::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL);
    }
    SSL* tls = SSL_new(context_);
    SSL_set_fd(tls, socket);
    if (SSL_accept(tls) == 1) {
      const char* name = SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name);
      server_name = name == nullptr ? "" : name;
      const std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
      while (SSL_read(tls, bytes, sizeof bytes) > 0)
        SSL_write(tls, reply.data(), static_cast<int>(reply.size()));
    }
    SSL_free(tls);
  }

  SSL_CTX* context_;
  bool as_proxy_;
  int socket_ = -1;
  std::thread thread_;
};

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    trusted_ =
        std::filesystem::temp_directory_path() / ("plimsoll-tls-" + std::to_string(::getpid()) + ".pem");
    certificate_.write_to(trusted_);
  }
  void TearDown() override { std::filesystem::remove(trusted_); }

  Result<std::string> body_at(HttpStreams& streams, const std::string& url) {
    HttpRequest request;
    request.url = url;
    auto stream = wait_for(io_, streams.open(std::move(request), Deadline::after(10s)));
    if (!stream) return tl::unexpected(stream.error());
    std::string whole;
    while (true) {
      const auto bytes = wait_for(io_, (*stream)->read(Deadline::after(10s)));
      if (!bytes) return tl::unexpected(bytes.error());
      if (bytes->empty()) return whole;
      whole += *bytes;
    }
  }
  std::unique_ptr<HttpStreams> streams_trusting(const std::string& file) {
    return make_streams(io_.get_executor(), {.certificates = file});
  }

  Certificate certificate_{"DNS:localhost,DNS:far-away.invalid,IP:127.0.0.1"};
  std::filesystem::path trusted_;
  boost::asio::io_context io_{1};
};

TEST_F(Tls, TrustsWhomItIsToldToTrustAndKeepsTheConnection) {
  TlsServer server(certificate_, false);
  auto streams = streams_trusting(trusted_);
  for (const char* host : {"localhost", "127.0.0.1"}) {
    const std::string url = fmt::format("https://{}:{}/", host, server.port);
    for (int i = 0; i < 3; ++i) {
      const auto body = body_at(*streams, url);
      EXPECT_EQ(body.value_or("?"), "secret") << body.error().what;
    }
    EXPECT_EQ(server.server_name, host == std::string("localhost") ? "localhost" : "");
    streams = streams_trusting(trusted_);  // the server knows one connection at a time
  }
  EXPECT_EQ(server.connections, 2);
}

TEST_F(Tls, RefusesCertificatesThatNobodyVouchesFor) {
  TlsServer server(certificate_, false);
  const auto streams = streams_trusting({});
  const auto body = body_at(*streams, fmt::format("https://localhost:{}/?geheim", server.port));
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Errc::unreachable);
  EXPECT_NE(body.error().what.find("certificate was refused"), std::string::npos) << body.error().what;
  EXPECT_EQ(body.error().what.find("geheim"), std::string::npos);
}

TEST_F(Tls, RefusesCertificatesForOthers) {
  const Certificate other("DNS:other.invalid");
  other.write_to(trusted_);
  TlsServer server(other, false);
  const auto streams = streams_trusting(trusted_);
  const auto body = body_at(*streams, fmt::format("https://localhost:{}/", server.port));
  ASSERT_FALSE(body);
  EXPECT_NE(body.error().what.find("certificate was refused"), std::string::npos) << body.error().what;
}

TEST_F(Tls, GoesThroughAProxyByConnect) {
  TlsServer proxy(certificate_, true);
  ASSERT_EQ(::setenv("https_proxy", fmt::format("http://ann:geheim@127.0.0.1:{}", proxy.port).c_str(), 1), 0);
  const auto streams = streams_trusting(trusted_);
  ::unsetenv("https_proxy");
  for (int i = 0; i < 2; ++i) {
    const auto body = body_at(*streams, "https://far-away.invalid/x");
    EXPECT_EQ(body.value_or("?"), "secret") << body.error().what;
  }
  EXPECT_EQ(proxy.connections, 1);
  EXPECT_EQ(proxy.server_name, "far-away.invalid");
  EXPECT_TRUE(proxy.connect_line.starts_with("CONNECT far-away.invalid:443 HTTP/1.1\r\n"))
      << proxy.connect_line;
  EXPECT_NE(proxy.connect_line.find("Proxy-Authorization: Basic YW5uOmdlaGVpbQ==\r\n"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::adapters
