// Requests to a Weaviate server: any of its nodes may answer.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "adapters/weaviate/options.hpp"
#include "plimsoll/http.hpp"

namespace plimsoll::weaviate {

using Json = nlohmann::ordered_json;

struct Answer {
  int status = 0;
  Json body;  // discarded: empty
};

// Thread-safe. A node that does not answer, or that cannot because of others, is followed by the next one.
class Nodes {
 public:
  Nodes(HttpClient& http, const Options& options);

  // An answer below 500 is a value. unreachable: no node answers; upstream_failed: the answer is not JSON.
  Result<Answer> ask(std::string_view method, std::string_view path, std::string body,
                     Deadline deadline) const;

  // Returns the `data` of a GraphQL query. damaged: the server does not know the collection; upstream_failed:
  // it refuses the query.
  Result<Json> query(std::string_view graphql, Deadline deadline) const;

  // Whether all nodes answer each other and agree. Otherwise what seems to be missing may only be late.
  Result<bool> are_all_there() const;

  Deadline for_search() const { return Deadline::after(options_.search); }
  Deadline for_write() const { return Deadline::after(options_.write); }
  const Options& options() const { return options_; }

 private:
  Result<Answer> ask_node(std::size_t node, const HttpRequest& request, Deadline deadline) const;
  template <typename Ask>
  auto first_answer(const Ask& ask, Deadline deadline) const -> decltype(ask(0, deadline));
  std::vector<std::size_t> order() const;

  HttpClient& http_;
  const Options options_;
  mutable std::atomic<std::size_t> next_ = 0;
  mutable std::vector<std::atomic<std::int64_t>> away_until_;  // of the steady clock, in ms; by node
};

// Returns what a server says is wrong, on one line and not long.
std::string problem_in(const Json& body);

}  // namespace plimsoll::weaviate
