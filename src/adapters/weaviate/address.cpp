#include "adapters/weaviate/address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::weaviate {
namespace {

constexpr std::size_t most_nodes = 64;
constexpr int most_copies = 64, most_shards = 1'024;

tl::unexpected<Error> refused(std::string_view what) {
  return fail(Errc::bad_setting,
              "index_store: {}; expected a URL such as "
              "weaviate://KEY@HOST:8080,HOST:8080?replication=2, with special characters of the key "
              "percent-encoded",
              what);
}

// The part of `rest` before the first `mark`, which is taken out of `rest` with the mark.
std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::optional<int> number_in(std::string_view text, int most) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1 || number > most)
    return {};
  return number;
}

// None: not well-formed, or with characters that a header cannot have.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? base::hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? base::hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return {};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c <= ' ' || c > '~') return {};
    out += c;
  }
  return out;
}

bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.size() < 4) return false;
    return host.find_first_not_of("0123456789abcdefABCDEF:.", 1) == host.size() - 1;
  }
  const auto is_allowed = [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  return !host.empty() && std::ranges::all_of(host, is_allowed);
}

// "host:8080" with the usual port if there is none; empty: not such an address.
std::string host_and_port(std::string_view given, std::string_view usual_port) {
  const std::size_t after_host = given.starts_with('[') ? given.find(']') : 0;
  const std::size_t colon = after_host == std::string_view::npos ? after_host : given.find(':', after_host);
  const std::string_view host = given.substr(0, colon);
  if (!is_host(host)) return "";
  const std::string_view port = colon == std::string_view::npos ? usual_port : given.substr(colon + 1);
  if (!number_in(port, 65'535)) return "";
  return fmt::format("{}:{}", host, port);
}

Result<void> read_options(std::string_view query, Address& out) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    const std::string_view name = take_until(value, '=');
    if (name == "replication") {
      const auto copies = number_in(value, most_copies);
      if (!copies) return refused(fmt::format("replication must be 1 to {}", most_copies));
      out.replication = *copies;
    } else if (name == "shards") {
      const auto shards = number_in(value, most_shards);
      if (!shards) return refused(fmt::format("shards must be 1 to {}", most_shards));
      out.shards = *shards;
    } else {
      return refused("after '?' there may be replication=N and shards=N");
    }
  }
  return {};
}

}  // namespace

Result<Address> read_address(const base::Secret& url) {
  std::string_view rest = url.reveal();
  const bool tls = rest.starts_with("weaviates://");
  if (!tls && !rest.starts_with("weaviate://")) return refused("not a URL of Weaviate");
  rest.remove_prefix(rest.find("://") + 3);
  Address out;
  std::string_view hosts = take_until(rest, '?');
  TRY_VOID(read_options(rest, out));
  if (const std::size_t at = hosts.rfind('@'); at != std::string_view::npos) {
    auto key = decoded(hosts.substr(0, at));
    if (!key || key->empty()) return refused("the key before '@' is not well-formed");
    out.key = base::Secret(*std::move(key));
    hosts.remove_prefix(at + 1);
  }
  if (hosts.ends_with('/')) hosts.remove_suffix(1);
  out.shown = tls ? "weaviates://" : "weaviate://";
  while (!hosts.empty() || out.nodes.empty()) {
    const std::string node = host_and_port(take_until(hosts, ','), tls ? "443" : "8080");
    if (node.empty()) return refused("a host or its port is not well-formed");
    if (out.nodes.size() == most_nodes) return refused(fmt::format("more than {} hosts", most_nodes));
    out.shown += (out.nodes.empty() ? "" : ",") + node;
    out.nodes.push_back((tls ? "https://" : "http://") + node);
  }
  return out;
}

}  // namespace plimsoll::weaviate
