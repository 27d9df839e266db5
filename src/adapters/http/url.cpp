#include "adapters/http/url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::adapters {
namespace {

constexpr std::string_view not_an_address = "the address of the server is not one that can be asked";

std::uint16_t usual_port(bool tls) {
  return tls ? 443 : 80;
}

using base::hex_digit;

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

bool is_host(std::string_view host) {
  return !host.empty() && host.find_first_of("/?#@[]\\<>\"^`{|}% ") == std::string_view::npos;
}

// "host:80" or "[::1]:80".
Result<void> read_host_and_port(std::string_view text, Origin& origin) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return fail(Errc::bad_input, "{}", not_an_address);
    origin.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (origin.host.find(':') == std::string::npos) return fail(Errc::bad_input, "{}", not_an_address);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    origin.host = base::to_lower_ascii(text.substr(0, colon));
    port = text.substr(colon);
  }
  if (!is_host(origin.host) || (!port.empty() && port.front() != ':'))
    return fail(Errc::bad_input, "{}", not_an_address);
  origin.port = usual_port(origin.tls);
  if (port.size() <= 1) return {};
  port.remove_prefix(1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), origin.port);
  if (error != std::errc{} || end != port.data() + port.size() || origin.port == 0)
    return fail(Errc::bad_input, "{}", not_an_address);
  return {};
}

}  // namespace

std::string Origin::authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  std::string text = is_v6 ? "[" + host + "]" : host;
  if (port != usual_port(tls)) text += ":" + std::to_string(port);
  return text;
}

std::string Origin::shown() const {
  return (tls ? "https://" : "http://") + authority();
}

Result<SplitUrl> split_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos || has_control(url) || url.find(' ') != std::string_view::npos)
    return fail(Errc::bad_input, "{}", not_an_address);
  url = url.substr(0, url.find('#'));
  const std::size_t path = std::min(url.find_first_of("/?", scheme + 3), url.size());
  return SplitUrl{url.substr(0, path), url.substr(path)};
}

Result<Origin> read_origin(std::string_view front) {
  const std::size_t scheme_end = front.find("://");
  if (scheme_end == std::string_view::npos) return fail(Errc::bad_input, "{}", not_an_address);
  const std::string scheme = base::to_lower_ascii(front.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https")
    return fail(Errc::bad_input, "only http:// and https:// addresses can be asked");
  Origin origin;
  origin.tls = scheme == "https";
  std::string_view rest = front.substr(scheme_end + 3);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    origin.user_info = percent_decoded(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  TRY_VOID(read_host_and_port(rest, origin));
  return origin;
}

std::string target_of(std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  return "/" + std::string(path);
}

std::string_view without_query(std::string_view path) {
  return path.substr(0, path.find('?'));
}

bool is_this_machine(std::string_view name) {
  std::string host = base::to_lower_ascii(name);
  if (host.ends_with('.')) host.pop_back();
  if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? letters[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

}  // namespace plimsoll::adapters
