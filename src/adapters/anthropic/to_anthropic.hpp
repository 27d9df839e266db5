// A chat request of OpenAI's form as Anthropic's /v1/messages takes it.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/upstream.hpp"

namespace plimsoll::anthropic {

struct Translated {
  std::string body;
  std::vector<std::string> left_out;  // fields that Anthropic's API cannot express: "seed", "messages.name"
};

// The API requires a limit of the answer. A request without one gets what the plan reserved, or 4,096.
// bad_input: the body is not a chat request; or it has fields that cannot be expressed and
// request.refuse_inexpressible is set. Fields that do not affect the answer are dropped and not listed.
Result<Translated> to_anthropic(const UpstreamRequest& request);

}  // namespace plimsoll::anthropic
