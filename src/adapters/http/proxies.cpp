#include "adapters/http/proxies.hpp"

#include <cstdlib>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/text/text.hpp"

namespace plimsoll::adapters {
namespace {

namespace ip = boost::asio::ip;

std::string first_of(const Proxies::Variables& variables, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string value = variables(name); !value.empty()) return value;
  return {};
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(", "), list.size());
    std::string name = base::to_lower_ascii(list.substr(0, end));
    if (name.starts_with('.')) name.erase(0, 1);
    if (!name.empty()) names.push_back(std::move(name));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

// "10.0.0.0/8", "fd00::/8".
bool is_within(const std::string& network, const std::string& host) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(host, error);
  if (error || network.find('/') == std::string::npos) return false;
  if (address.is_v4()) {
    const auto range = ip::make_network_v4(network, error);
    return !error && range.canonical() == ip::network_v4(address.to_v4(), range.prefix_length()).canonical();
  }
  const auto range = ip::make_network_v6(network, error);
  return !error && range.canonical() == ip::network_v6(address.to_v6(), range.prefix_length()).canonical();
}

}  // namespace

Proxies::Proxies(const Variables& variables)
    : plain_(first_of(variables, {"http_proxy", "all_proxy", "ALL_PROXY"})),  // HTTP_PROXY is a CGI's header
      tls_(first_of(variables, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})),
      excepted_(names_in(first_of(variables, {"no_proxy", "NO_PROXY"}))) {}

Proxies Proxies::of_environment() {
  return Proxies([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

bool Proxies::is_excepted(const Origin& origin) const {
  for (const std::string& name : excepted_) {
    if (name == "*" || name == origin.host || is_within(name, origin.host)) return true;
    if (origin.host.ends_with("." + name)) return true;
  }
  return false;
}

Result<std::optional<Origin>> Proxies::towards(const Origin& origin) const {
  const std::string& proxy = origin.tls ? tls_ : plain_;
  if (proxy.empty() || is_this_machine(origin.host) || is_excepted(origin)) return std::nullopt;
  const bool has_scheme = proxy.find("://") != std::string::npos;
  const std::string whole = has_scheme ? proxy : "http://" + proxy;
  const auto split = split_url(whole);
  const auto read = split ? read_origin(split->front) : tl::unexpected(split.error());
  if (!read || read->tls)
    return fail(Errc::unreachable,
                "{}: the proxy of the environment cannot be used; it must be an http:// address",
                origin.shown());
  return *read;
}

}  // namespace plimsoll::adapters
