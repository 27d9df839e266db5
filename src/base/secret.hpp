// A value that must not be shown. It has no stream operator, no formatter and no conversion to text, so
// printing or logging it does not compile; reveal() returns it explicitly.
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
