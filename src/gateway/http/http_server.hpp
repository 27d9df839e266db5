// The gateway's own HTTP: connections, requests, replies, and an orderly end. What is asked and answered is
// none of its business.
//
// Each connection lives on one thread; what would hold a thread up goes to workers. Requests are bounded
// before they are read, and clients that are too slow are let go.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "base/secret.hpp"
#include "engine/answer.hpp"

namespace plimsoll::gateway {

struct ClientRequest {
  engine::Caller caller{};
  std::string method;
  std::string path;      // decoded, without the query
  std::string raw_path;  // as it came
  std::string query;     // as it came
  std::string content_type;
  std::string content_encoding;
  std::string origin;             // of the page that asks, where a browser does
  std::string host;               // as it calls this server
  bool from_here = false;         // it came in by a loopback address
  std::string mcp_version;        // MCP-Protocol-Version
  std::string anthropic_version;  // anthropic-version: a client of Anthropic's API
  base::Secret key;               // of Authorization, X-API-Key or api-key, in this order
  // A browser that asks whether it may, and the headers that it would send.
  bool is_preflight = false;
  std::string preflight_headers;
  std::string body;
  bool body_unread = false;  // it was not wanted (ServerOptions::wants_body)
};

// The reply to one request. What is left unsaid when the handler returns is said by the server: 500.
class ClientReply : public engine::AnswerSink {
 public:
  virtual bool is_begun() const = 0;
};

// What a thread of the server has to itself, beside its connections.
struct ThreadMaker {
  std::function<std::unique_ptr<HttpStreams>(boost::asio::any_io_executor executor)> streams;
  std::function<std::unique_ptr<UpstreamLink>(HttpStreams& streams, std::size_t member)> link;
  std::size_t members = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  // 0: any that is free
  // A socket that listens already, of a server that is to end: both take connections until it does. -1: none.
  int listening = -1;
  std::string tls_certificate{}, tls_key{};  // files; empty: plain HTTP
  std::size_t io_threads = 1;
  std::size_t worker_threads = 1;
  std::size_t max_connections = 4'096;
  std::size_t max_request_bytes = std::size_t{32} << 20;
  std::size_t max_header_bytes = std::size_t{64} << 10;
  std::size_t max_memory = std::size_t{2} << 30;  // of all requests under way, reckoned by their bodies
  // Judges a request by all but its body; none: every body is read. One that is not wanted is handled without
  // it, and its connection closed: who may not come in does not fill the memory.
  std::function<bool(const ClientRequest& head)> wants_body{};
  std::chrono::milliseconds idle{60'000};       // a client may stay silent so long in the middle of something
  std::chrono::milliseconds kept_open{75'000};  // and so long between two requests
  std::chrono::milliseconds drain{30'000};      // how long requests under way are waited for at the end
};

class ServerThread;
using Handler =
    std::function<Awaitable<void>(ServerThread& thread, ClientRequest& request, ClientReply& reply)>;

class HttpServer {
 public:
  // Listens when it returns. io_failed says why it cannot, with the address.
  static Result<std::unique_ptr<HttpServer>> start(const ServerOptions& options, const ThreadMaker& maker,
                                                   Handler handler);
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  // For a server that is to follow this one; not closed by it.
  virtual int listening() const = 0;
  virtual std::size_t connections() const = 0;
  virtual bool is_draining() const = 0;
  // Takes no new connection, lets requests under way end, and returns when the last has ended or `drain` has
  // passed. False: workers are still at something, and destroying the server would wait for it.
  virtual bool drain() = 0;
};

// "500 Internal Server Error"
std::string_view reason_of(int status);

}  // namespace plimsoll::gateway
