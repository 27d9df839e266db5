// Asks one upstream for its kind, its models, and properties of one model. Each request has its own time
// limit, and all of them share a deadline; a server that cannot be reached is not asked again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/upstream.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::models {

class ServerTalk {
 public:
  ServerTalk(HttpClient& http, const Upstream& upstream, Deadline deadline,
             std::chrono::milliseconds each_ask);

  // Returns the given kind, or detects it with at most five requests. None:
  // take_tried() says why.
  std::optional<ServerKind> kind();
  // Skips detection if the kind is known.
  void set_kind(ServerKind kind) { kind_ = kind; }

  // Asks for one model; none if the server does not know it or did not answer. The result may lack a
  // window.
  std::optional<ReportedModel> model(std::string_view name);

  // Returns the server's list, without properties that need a request per model.
  Result<std::vector<ReportedModel>> models();

  // Completes a model from models() with further requests.
  ReportedModel completed(const ReportedModel& listed);

  // Returns all requests since the last call with their results, in order.
  std::vector<WindowAttempt> take_tried() { return std::exchange(tried_, {}); }

  // Returns whether any request got a reply. A server error (5xx) does not count: servers return it at start.
  bool answered() const { return answered_; }

 private:
  Result<std::string> ask(const ServerAsk& ask);
  Result<std::string> send(const ServerAsk& ask);
  void note(const ServerAsk& ask, std::string result);
  std::optional<ServerKind> recognise();
  void add_loaded(std::string_view name, ReportedModel& model);

  HttpClient& http_;
  const Upstream& upstream_;
  Deadline deadline_;
  std::chrono::milliseconds each_ask_;
  std::optional<ServerKind> kind_;
  bool looked_ = false;                                 // detection was tried
  std::map<std::string, Result<std::string>> replies_;  // by method and path, for requests without a body
  std::optional<Error> gone_;                           // why no further requests are sent
  bool answered_ = false;
  int late_ = 0;  // consecutive requests without a reply in time
  std::vector<WindowAttempt> tried_;
};

}  // namespace plimsoll::models
