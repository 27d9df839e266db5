// The gateway's HTTP server: connections, requests, replies and an orderly shutdown. Independent of the
// content of requests.
//
// Each connection belongs to one thread; blocking work goes to workers. Requests are bounded before they are
// read, and clients that are too slow are disconnected.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "base/secret.hpp"
#include "engine/answer.hpp"

namespace plimsoll::gateway {

class HeldMemory;
class MemoryBudget;

struct ClientRequest {
  engine::Caller caller{};
  std::string method;
  std::string path;      // decoded, without the query
  std::string raw_path;  // as received
  std::string query;     // as received
  std::string content_type;
  std::string content_encoding;
  std::string accept;             // media types, as received
  std::string accept_encoding;    // as received
  std::string if_none_match;      // as received
  bool is_head = false;           // the method was HEAD; `method` is then GET
  std::string origin;             // of the web page, for a browser
  std::string host;               // the client's name for this server
  bool from_here = false;         // from a loopback address
  std::string mcp_version;        // MCP-Protocol-Version
  std::string anthropic_version;  // anthropic-version: a client of Anthropic's API
  std::string anthropic_beta;     // anthropic-beta, all of them
  TraceContext context;           // by traceparent and tracestate
  base::Secret key;               // from Authorization, X-API-Key or api-key, in this order
  // A preflight request, and the headers that the browser would send.
  bool is_preflight = false;
  std::string preflight_headers;
  std::string body;
  bool body_unread = false;      // skipped by ServerOptions::wants_body
  HeldMemory* memory = nullptr;  // of the request; null: not counted

  // Tells keys apart before they are checked; 0: no key was sent.
  std::size_t key_number() const { return key.empty() ? 0 : std::hash<std::string_view>{}(key.reveal()) | 1; }
};

struct AnswerHead {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<HttpHeader> headers;
  std::optional<std::size_t> length;  // of the body; none: it comes in pieces
};

// The reply to one request. If the handler sends nothing, the server sends 500. An error of either call:
// the client has disconnected.
class ClientReply {
 public:
  ClientReply() = default;
  ClientReply(const ClientReply&) = delete;
  ClientReply& operator=(const ClientReply&) = delete;
  virtual ~ClientReply() = default;

  virtual Awaitable<Result<void>> head(const AnswerHead& head) = 0;
  // Returns when the client has taken it, so that a slow client slows everything behind it down.
  virtual Awaitable<Result<void>> body(std::string_view bytes) = 0;
  virtual bool is_begun() const = 0;
};

// Creates the resources of a server thread besides its connections.
struct ThreadMaker {
  std::function<std::unique_ptr<HttpStreams>(boost::asio::any_io_executor executor)> streams;
  std::function<std::unique_ptr<UpstreamLink>(HttpStreams& streams, std::size_t member)> link;
  std::size_t members = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  // 0: any free port
  // A listening socket of a server to replace: both accept connections until it ends. -1: none.
  int listening = -1;
  // Of the server to replace, whose requests go on beside those of this one; null: none. Gets its limit.
  std::shared_ptr<MemoryBudget> memory{};
  std::string tls_certificate{}, tls_key{};  // files; empty: plain HTTP
  std::size_t io_threads = 1;
  std::size_t worker_threads = 1;
  std::size_t max_connections = 4'096;
  std::size_t max_request_bytes = std::size_t{32} << 20;
  std::size_t max_header_bytes = std::size_t{64} << 10;
  std::size_t max_memory = std::size_t{2} << 30;  // of all running requests, estimated from their bodies
  // Decides from the head whether to read the body; none: always. Otherwise the request is handled without
  // its body and the connection closed, so that a refused client cannot fill the memory.
  std::function<bool(const ClientRequest& head)> wants_body{};
  std::chrono::milliseconds idle{60'000};       // longest silence of a client during a request
  std::chrono::milliseconds kept_open{75'000};  // longest silence between two requests
  std::chrono::milliseconds drain{30'000};      // time for running requests at shutdown
};

class ServerThread;
using Handler =
    std::function<Awaitable<void>(ServerThread& thread, ClientRequest& request, ClientReply& reply)>;

class HttpServer {
 public:
  // Listens when it returns. io_failed: the error has the reason and the address.
  static Result<std::unique_ptr<HttpServer>> start(const ServerOptions& options, const ThreadMaker& maker,
                                                   Handler handler);
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  // The listening socket, for a server that replaces this one; do not close it.
  virtual int listening() const = 0;
  // The memory of its requests, for a server that replaces this one.
  virtual std::shared_ptr<MemoryBudget> memory() const = 0;
  virtual std::size_t connections() const = 0;
  virtual bool is_draining() const = 0;
  // Accepts no new connections, lets running requests finish, and returns when the last has ended or `drain`
  // has passed. False: workers are still busy, and destroying the server would wait for them.
  virtual bool drain() = 0;
};

// "500 Internal Server Error"
std::string_view reason_of(int status);

}  // namespace plimsoll::gateway
