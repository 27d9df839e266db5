// What servers say, by a script instead of a network.
#include <chrono>
#include <stdexcept>

#include <fmt/format.h>

#include "models/window_finder.hpp"
#include "scenario.hpp"

namespace plimsoll::scenarios {
namespace {

class Script final : public HttpClient {
 public:
  std::map<std::string, Result<HttpReply>> replies;
  Result<HttpReply> send(const HttpRequest& request, Deadline) override {
    const std::string route = request.method + " " + request.url.substr(request.url.find('/', 8));
    const auto found = replies.find(route);
    return found == replies.end() ? HttpReply{404, {}, "not found"} : found->second;
  }
};

}  // namespace

// upstream KIND; reply METHOD PATH [status=N] followed by its body; refuse METHOD PATH; find MODEL
std::string play_upstream(const std::vector<Line>& given) {
  using namespace std::chrono_literals;
  static const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  Script script;
  models::FinderRules rules;
  std::string out;
  const std::string kind_name = given.front().words.empty() ? "" : given.front().word(0);
  const auto kind = server_kind_of(kind_name);
  std::vector<const Line*> asks;
  for (const Line& line : given) {
    if (line.verb == "reply") {
      const std::size_t body =
          line.rest.find('{') == std::string::npos ? line.rest.find('[') : line.rest.find('{');
      script.replies.insert_or_assign(
          line.word(0) + " " + line.word(1),
          HttpReply{static_cast<int>(line.number("status", 200)),
                    {},
                    body == std::string::npos ? line.rest : line.rest.substr(body)});
    } else if (line.verb == "refuse") {
      script.replies.insert_or_assign(line.word(0) + " " + line.word(1),
                                      fail(Errc::unreachable, "connection refused"));
    } else if (line.verb == "configured") {
      rules.configured = std::stoll(line.word(0));
    } else if (line.verb == "find") {
      asks.push_back(&line);
    } else if (line.verb != "upstream") {
      throw std::runtime_error("an upstream has no '" + line.verb + "'");
    }
  }
  models::WindowFinder finder(script, catalogue, rules);
  for (const Line* line : asks) {
    const auto upstream = models::make_upstream("http://127.0.0.1:9", kind);
    const bool none = kind_name == "none";
    const auto found = finder.find(line->word(0), none ? nullptr : &*upstream, Deadline::after(5s));
    out += fmt::format("{} {} {}\n", found->window.tokens, name_of(found->window.source),
                       name_of(found->window.confidence));
  }
  return out;
}

}  // namespace plimsoll::scenarios
