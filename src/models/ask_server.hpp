// One conversation with one upstream: which kind it is, which models it has, what it says of one. Each
// question has its own patience and all of them share a deadline; a server that cannot be reached is not
// asked again.
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

  // The kind that was given, or the one that the server shows itself to be by at most five questions. None:
  // tried() says why.
  std::optional<ServerKind> kind();
  // Spares the questions where somebody knows it from before.
  void set_kind(ServerKind kind) { kind_ = kind; }

  // What it says of one model; none where it does not know it, or did not tell. A model without a window is
  // an answer too.
  std::optional<ModelLocation> model(std::string_view name);

  // All that it lists, without what has to be asked model by model.
  Result<std::vector<ModelLocation>> models();

  // Of a model that models() listed: whatever else has to be asked.
  ModelLocation completed(const ModelLocation& listed);

  // Every question since the last call and what came of it, in order.
  std::vector<WindowAttempt> take_tried() { return std::exchange(tried_, {}); }

  // Whether any question got a reply. A server error (5xx) is none: servers give it while they start.
  bool answered() const { return answered_; }

 private:
  Result<std::string> ask(const ServerAsk& ask);
  Result<std::string> send(const ServerAsk& ask);
  void note(const ServerAsk& ask, std::string result);
  std::optional<ServerKind> recognise();
  void add_loaded(std::string_view name, ModelLocation& model);

  HttpClient& http_;
  const Upstream& upstream_;
  Deadline deadline_;
  std::chrono::milliseconds each_ask_;
  std::optional<ServerKind> kind_;
  bool looked_ = false;                                 // for the kind
  std::map<std::string, Result<std::string>> replies_;  // by method and path, of questions without a body
  std::optional<Error> gone_;                           // why it makes no sense to ask on
  bool answered_ = false;
  int late_ = 0;  // questions in a row without a reply in time
  std::vector<WindowAttempt> tried_;
};

}  // namespace plimsoll::models
