// The port through which everything of ours talks HTTP.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct HttpHeader {
  std::string name;
  std::string value;  // may be a key: no message and no log line ever holds it
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http or https
  std::vector<HttpHeader> headers;
  std::string body;
};

struct HttpReply {
  int status = 0;
  std::string location;  // where a redirect points, which is never followed by itself
  std::string body;
};

// Any thread may send at any time. An implementation promises
// - to come back by the deadline, whatever the name server, the network and the other side do;
// - to check certificates, always;
// - to hold no more of a body than its limit;
// - messages without keys, passwords and queries.
class HttpClient {
 public:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  virtual ~HttpClient() = default;

  // A reply of any status is a value. bad_input: the address or a header cannot be sent; timed_out;
  // unreachable; upstream_failed: the reply broke off, was too long or was no HTTP.
  virtual Result<HttpReply> send(const HttpRequest& request, Deadline deadline) = 0;
};

}  // namespace plimsoll
