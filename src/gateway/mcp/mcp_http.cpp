#include "gateway/mcp/mcp_http.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "gateway/api.hpp"
#include "gateway/http/cors.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view before_the_header = "2025-03-26";
constexpr int unsupported_version = -32022;
constexpr int not_a_request = -32600;

std::string error_line(int code, std::string_view what, Json data = nullptr) {
  Json error{{"code", code}, {"message", what}};
  if (!data.is_null()) error["data"] = std::move(data);
  return base::json_text(Json{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", std::move(error)}});
}

}  // namespace

McpReply answer_mcp_post(const McpServer& server, std::string_view version, std::string_view body,
                         engine::Caller who) {
  const auto versions = mcp_versions();
  if (!version.empty() && std::ranges::find(versions, version) == versions.end()) {
    Json supported = Json::array();
    for (const std::string_view one : versions) supported.push_back(one);
    return {400, error_line(unsupported_version,
                            fmt::format("MCP-Protocol-Version {} is not supported", version.substr(0, 40)),
                            {{"supported", std::move(supported)}, {"requested", version.substr(0, 40)}})};
  }
  if (base::trim(body).empty()) return {400, error_line(not_a_request, "the body is empty")};
  McpSession session;
  session.indexes = std::move(who.indexes);
  session.owner = std::move(who.owner);
  session.version = version.empty() ? before_the_header : version;
  auto answer = answer_mcp(server, session, body);
  if (!answer) return {202, {}};
  return {answer->to_message ? 200 : 400, std::move(answer->text)};
}

Awaitable<void> Api::mcp(Call call) const {
  if (!is_welcome_origin(call.request.origin)) {
    std::string body = error_line(not_a_request, fmt::format("pages of {} may not use this server",
                                                             call.request.origin.substr(0, 200)));
    co_await send_json(call.reply, 403, std::move(body));
    co_return;
  }
  McpReply answer;
  std::function<void()> work = [&] {
    answer =
        answer_mcp_post(context_.tools, call.request.mcp_version, call.request.body, call.request.caller);
  };
  co_await call.thread.elsewhere(std::move(work));
  co_await send_json(call.reply, answer.status, std::move(answer.body));
}

}  // namespace plimsoll::gateway
