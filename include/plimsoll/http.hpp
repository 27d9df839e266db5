// The port for all outgoing HTTP requests.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct HttpHeader {
  std::string name;
  std::string value;  // may be a secret: never part of messages and log lines
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http or https
  std::vector<HttpHeader> headers;
  std::string body;
};

struct HttpReply {
  int status = 0;
  std::string location;  // target of a redirect; redirects are not followed
  std::string body;
};

// Thread-safe. An implementation
// - returns by the deadline, whatever DNS, the network and the server do;
// - always checks certificates;
// - keeps no more of a body than its limit;
// - leaves keys, passwords and query strings out of messages.
class HttpClient {
 public:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  virtual ~HttpClient() = default;

  // A reply of any status is a value. bad_input: the URL or a header cannot be sent; timed_out;
  // unreachable; upstream_failed: the reply was cut off, too long or not HTTP.
  virtual Result<HttpReply> send(const HttpRequest& request, Deadline deadline) = 0;
};

}  // namespace plimsoll
