// The proxies that the environment names, as curl reads it: http_proxy, https_proxy, all_proxy and no_proxy,
// the latter three in capitals too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/http/url.hpp"

namespace plimsoll::adapters {

class Proxies {
 public:
  // A variable's value, or empty.
  using Variables = std::function<std::string(const char* name)>;
  explicit Proxies(const Variables& variables);
  static Proxies of_environment();

  // Through whom to go there; nobody, always, for this machine itself. unreachable: the proxy is of a kind
  // that is not spoken here.
  Result<std::optional<Origin>> towards(const Origin& origin) const;

 private:
  bool is_excepted(const Origin& origin) const;

  std::string plain_;
  std::string tls_;
  std::vector<std::string> excepted_;
};

}  // namespace plimsoll::adapters
