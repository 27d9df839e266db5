// What an owner may use, as far as a request has to know it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "plimsoll/tokens.hpp"

namespace plimsoll::engine {

// Why somebody may not ask now.
struct Refusal {
  int status = 401;
  std::string code;
  std::string what;
  std::int64_t retry_after_seconds = 0;  // 0: waiting does not help
};

// What one request takes of its owner's limits, at most.
struct Need {
  Tokens input = 0;
  Tokens answer = 0;               // with thinking
  bool answer_may_shrink = false;  // the request names no limit of its own
};

// A part of the limits, set aside for one request until `held` goes.
struct Share {
  Tokens answer = 0;  // no more than what was needed
  std::shared_ptr<const void> held{};
};

// Any thread may call it at any time.
using Reserve = std::function<tl::expected<Share, Refusal>(const std::string& owner, const Need& need)>;

// What a text may come to in tokens where nobody counts it. A picture has many bytes and few tokens: hence no
// more than this.
constexpr Tokens estimated_tokens(std::size_t bytes) {
  constexpr std::size_t bytes_per_token = 4, most = 32'768;
  return static_cast<Tokens>(bytes / bytes_per_token < most ? bytes / bytes_per_token : most);
}

}  // namespace plimsoll::engine
