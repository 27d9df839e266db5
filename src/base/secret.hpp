// A value that must not be shown. It has no stream operator, no formatter and no conversion to text, so
// that printing or logging it does not compile; who needs it to talk to a server asks by name.
#pragma once

#include <string>
#include <utility>

namespace plimsoll::base {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  bool empty() const { return value_.empty(); }
  const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

}  // namespace plimsoll::base
