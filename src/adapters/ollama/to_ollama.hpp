// A chat request of OpenAI's as Ollama's own /api/chat takes it.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/upstream.hpp"

namespace plimsoll::ollama {

struct Translated {
  std::string body;
  std::vector<std::string>
      left_out;  // fields that Ollama's API cannot express: "logit_bias", "messages.name"
};

enum class Purpose { answer, render };

// Nothing is ever cut by the server: `truncate` and `shift` are false. Fields that change nothing of the
// answer are left out without a word. bad_input: the body is no chat request; or it has fields that cannot be
// expressed and request.refuse_inexpressible is set.
Result<Translated> to_ollama(const UpstreamRequest& request, Purpose purpose = Purpose::answer);

}  // namespace plimsoll::ollama
