#include "adapters/weaviate/nodes.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::weaviate {
namespace {

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now().time_since_epoch())
      .count();
}

// Whether another node may do better.
bool is_of_the_node(const Error& error) {
  return error.code == Errc::unreachable || error.code == Errc::timed_out ||
         error.code == Errc::upstream_failed;
}

// The collection is not there, or no collection at all; also said for a moment after it was made.
bool says_unknown_collection(std::string_view problem) {
  return problem.find("Cannot query field \"Plimsoll_") != std::string_view::npos ||
         problem.find("no graphql provider present") != std::string_view::npos ||
         problem.find("could not find class") != std::string_view::npos;
}

}  // namespace

std::string problem_in(const Json& body) {
  constexpr std::size_t most = 300;
  std::string text;
  for (const char* place : {"errors", "error"})
    for (const Json& one : base::list_in(base::member(body, place)))
      if (text.empty()) text = base::text_in(one, "message");
  if (text.empty()) text = base::text_in(body, "message");
  if (text.empty()) text = base::text_in(body, "error");
  text.resize(std::min(text.find('\n'), text.size()));  // what follows repeats the query
  return std::string(base::prefix_of(text, most));
}

Nodes::Nodes(HttpClient& http, const Options& options)
    : http_(http), options_(options), away_until_(options.address.nodes.size()) {}

std::vector<std::size_t> Nodes::order() const {
  const std::size_t count = away_until_.size();
  const std::size_t first = next_.fetch_add(1, std::memory_order_relaxed) % count;
  std::vector<std::size_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = (first + i) % count;
  const std::int64_t now = steady_ms();
  std::ranges::stable_partition(out, [&](std::size_t node) { return away_until_[node] <= now; });
  return out;
}

Result<Answer> Nodes::ask_node(std::size_t node, const HttpRequest& request, Deadline deadline) const {
  HttpRequest own = request;
  own.url = options_.address.nodes[node] + request.url;
  if (!options_.address.key.empty())
    own.headers.push_back({"Authorization", "Bearer " + options_.address.key.reveal()});
  auto reply = http_.send(own, deadline);
  if (!reply) return tl::unexpected(std::move(reply).error());
  Answer answer{reply->status, Json(Json::value_t::discarded)};
  if (!reply->body.empty() && base::check_json_shape(reply->body, "the reply"))
    answer.body = base::parse_json(reply->body);
  if (reply->status >= 500)
    return fail(Errc::unreachable, "{} answers with status {}{}{}", options_.address.nodes[node],
                reply->status, answer.body.is_discarded() ? "" : ": ", problem_in(answer.body));
  if (reply->status == 401 || reply->status == 403)
    return fail(Errc::bad_setting, "{} refuses the key of index_store (status {})",
                options_.address.nodes[node], reply->status);
  if (!reply->body.empty() && answer.body.is_discarded())
    return fail(Errc::upstream_failed, "{} does not answer with JSON", options_.address.nodes[node]);
  return answer;
}

template <typename Ask>
auto Nodes::first_answer(const Ask& ask, Deadline deadline) const -> decltype(ask(0, deadline)) {
  Error last{Errc::unreachable, ""};
  for (const std::size_t node : order()) {
    const bool is_only = away_until_.size() == 1;
    auto answer = ask(node, is_only ? deadline : sooner(deadline, Deadline::after(options_.one_node)));
    if (answer || !is_of_the_node(answer.error())) {
      if (answer) away_until_[node] = 0;
      return answer;
    }
    last = std::move(answer).error();
    if (last.code != Errc::upstream_failed) away_until_[node] = steady_ms() + options_.away.count();
    if (deadline.passed()) break;
  }
  if (last.code == Errc::upstream_failed) return tl::unexpected(std::move(last));
  return fail(Errc::unreachable, "the index store {} does not answer ({}); try again later",
              options_.address.shown, last.what);
}

Result<Answer> Nodes::ask(std::string_view method, std::string_view path, std::string body,
                          Deadline deadline) const {
  HttpRequest request{std::string(method), std::string(path), {}, std::move(body)};
  if (!request.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  return first_answer(
      [&](std::size_t node, Deadline until) {
        // A write takes its time at any node.
        return ask_node(node, request, method == "GET" ? until : deadline);
      },
      deadline);
}

Result<bool> Nodes::are_all_there() const {
  TRY(const Answer answer, ask("GET", "/v1/cluster/statistics", {}, for_search()));
  const Json& agree = base::member(answer.body, "synchronized");
  return answer.status == 200 && agree.is_boolean() && agree.get<bool>();
}

Result<Json> Nodes::query(std::string_view graphql, Deadline deadline) const {
  HttpRequest request{"POST", "/v1/graphql", {{"Content-Type", "application/json"}}, "{\"query\":"};
  base::append_json_string(request.body, graphql);
  request.body += '}';
  bool unknown = false;
  auto data = first_answer(
      [&](std::size_t node, Deadline until) -> Result<Json> {
        TRY(Answer answer, ask_node(node, request, until));
        const std::string problem = problem_in(answer.body);
        if (says_unknown_collection(problem)) {
          unknown = true;
          return fail(Errc::upstream_failed, "{}", problem);
        }
        if (answer.status == 200 && problem.empty()) return Json(base::member(answer.body, "data"));
        return fail(Errc::upstream_failed, "the index store {} refuses a search (status {}{}{})",
                    options_.address.shown, answer.status, problem.empty() ? "" : ": ", problem);
      },
      deadline);
  if (!data && unknown && data.error().code == Errc::upstream_failed)
    return fail(Errc::damaged, "the search data is not in the index store {}", options_.address.shown);
  return data;
}

}  // namespace plimsoll::weaviate
