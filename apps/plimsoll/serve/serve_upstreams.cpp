#include "serve/serve_upstreams.hpp"

#include <charconv>

#include "adapters/http/curl_client.hpp"
#include "base/log.hpp"
#include "base/paths.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "serve/embedded.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::milliseconds knock_patience{200};

bool is_name(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// "my-host" -> "MY_HOST_API_KEY"
std::string key_variable(std::string_view name) {
  std::string variable = base::to_upper_ascii(name) + "_API_KEY";
  for (char& c : variable)
    if (c == '-' || c == '.') c = '_';
  return variable;
}

// Returns the default name of a server: its kind if known, else its host.
std::string usual_name(const models::Upstream& server) {
  const models::KindHint hint = models::hint_of(server.root);
  const auto kind = server.kind ? server.kind : hint.certain ? hint.certain : hint.likely;
  if (kind) return std::string(name_of(*kind));
  std::string_view host = server.shown;
  host.remove_prefix(std::min(host.size(), host.find("://") + 3));
  return std::string(host.substr(0, host.find('/')));
}

Result<models::ConfiguredUpstream> member_of(const config::Settings& settings, std::string_view text) {
  if (text == embedded_upstream) return embedded_member(settings);
  const std::size_t equals = text.find('=');
  const std::size_t scheme = text.find("://");
  models::ConfiguredUpstream member;
  const bool named =
      equals != std::string_view::npos && (scheme == std::string_view::npos || equals < scheme);
  if (named) member.name = text.substr(0, equals);
  if (named && !is_name(member.name))
    return fail(Errc::bad_input, "'{}' is not a valid upstream name; use letters, digits, '-', '_' and '.'",
                member.name);
  TRY(auto server, upstream_for(settings, named ? text.substr(equals + 1) : text, {}));
  if (!server) return fail(Errc::bad_input, "'{}' is not a server; expected [NAME=]URL", text);
  member.server = *std::move(server);
  if (named && member.server.key.empty()) {
    const base::Environment environment = base::current_environment();
    member.server.key = base::Secret(std::string(base::value_of(environment, key_variable(member.name))));
  }
  if (!named) member.name = usual_name(member.server);
  return member;
}

bool answers(const std::string& url) {
  adapters::CurlClient http("plimsoll/" PLIMSOLL_VERSION, trusted_certificates());
  HttpRequest request;
  request.url = url + (url.ends_with('/') ? "api/version" : "/api/version");
  const auto reply = http.send(request, Deadline::after(knock_patience));
  return reply && reply->status == 200;
}

}  // namespace

namespace {

// Returns the URLs of the servers, in the order in which they are asked.
std::vector<std::string> wanted_servers(const config::Settings& settings,
                                        const std::vector<std::string>& named) {
  std::vector<std::string> wanted = named.empty() ? settings.upstreams : named;
  if (!wanted.empty()) return wanted;
  const bool ollama_set = settings.origin_of("ollama_llm_base_url") != "default";
  const std::string& url = settings.llm_inference_url;
  if (!url.empty()) wanted.push_back(url);
  const bool same = !url.empty() && models::origin_of(url) == models::origin_of(settings.ollama_llm_base_url);
  if (!same && (ollama_set || (url.empty() && answers(settings.ollama_llm_base_url))))
    wanted.push_back(settings.ollama_llm_base_url);
  return wanted;
}

Result<std::vector<models::ConfiguredUpstream>> members_of(const config::Settings& settings,
                                                           const std::vector<std::string>& wanted) {
  std::vector<models::ConfiguredUpstream> members;
  for (const std::string& text : wanted) {
    TRY(models::ConfiguredUpstream member, member_of(settings, text));
    const std::string name = member.name;
    const auto taken = [&](const std::string& wish) {
      return std::ranges::any_of(members,
                                 [&](const models::ConfiguredUpstream& other) { return other.name == wish; });
    };
    for (int number = 2; taken(member.name); ++number) member.name = fmt::format("{}-{}", name, number);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

Result<std::vector<models::ConfiguredUpstream>> configured_members(const config::Settings& settings,
                                                                   const std::vector<std::string>& named) {
  std::vector<std::string> wanted = wanted_servers(settings, named);
  std::erase(wanted, std::string(embedded_upstream));
  return members_of(settings, wanted);
}

Result<std::vector<models::ConfiguredUpstream>> gateway_upstreams(const config::Settings& settings,
                                                                  const std::vector<std::string>& named) {
  const std::vector<std::string> wanted = wanted_servers(settings, named);
  TRY(std::vector<models::ConfiguredUpstream> members, members_of(settings, wanted));
  if (wanted.empty() && settings.embedded_model) {
    auto embedded = member_of(settings, embedded_upstream);
    if (!embedded && !settings.embedded_model_file.empty()) return tl::unexpected(embedded.error());
    if (embedded)
      members.push_back(*std::move(embedded));
    else
      log::warning("no embedded model", {{"why", embedded.error().what}});
  }
  return members;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<ListenAddress> listen_address(std::string_view text) {
  ListenAddress address{"127.0.0.1", 0};
  std::string_view port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!host.empty()) address.host = host == "localhost" ? "127.0.0.1" : host;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size())
    return fail(Errc::bad_input,
                "'{}' is not an address to listen on; expected HOST:PORT, such as 127.0.0.1:8000", text);
  return address;
}

}  // namespace plimsoll
