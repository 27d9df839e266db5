// The port to a model server. Requests and replies are in OpenAI's format, whatever the server's protocol.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/http_stream.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

struct UpstreamRequest {
  std::string method = "POST";
  std::string route;  // OpenAI's: "/v1/chat/completions", "/v1/embeddings"
  std::string body;   // sent byte for byte to an OpenAI-compatible server
  std::string model;  // the server's name for it
  std::string owner;  // cached prompts of one owner are not used for another
  bool stream = false;
  // The window to load the model with, if the server lets us choose (U2).
  std::optional<Tokens> num_ctx;
  // What the plan reserves for the answer: sent to a server that requires a limit, where the body has none.
  // 0: not known.
  Tokens answer = 0;
  // Fields that the server's API does not support: refuse the request, or drop and report them.
  bool refuse_inexpressible = true;
};

// One server, for one thread, like its HttpStreams.
class UpstreamLink {
 public:
  UpstreamLink() = default;
  UpstreamLink(const UpstreamLink&) = delete;
  UpstreamLink& operator=(const UpstreamLink&) = delete;
  virtual ~UpstreamLink() = default;

  // Returns a reply in OpenAI's format: one JSON object or, with `stream`, server-sent events that end in
  // [DONE]; an error of status 400 and up in OpenAI's format or as the server wrote it. The header
  // x-plimsoll-left-out lists, separated by commas, the fields that the server's API does not support.
  // Does not retry. bad_input: the request cannot be converted to the server's format.
  virtual Awaitable<Result<std::unique_ptr<HttpStream>>> send(UpstreamRequest request, Deadline deadline) = 0;

  // Returns the prompt that the server's template makes of a chat, without running the model. unsupported:
  // the server has no such function.
  virtual Awaitable<Result<std::string>> rendered(UpstreamRequest /*request*/, Deadline /*deadline*/) {
    co_return fail(Errc::unsupported, "this server cannot show its prompts");
  }
};

}  // namespace plimsoll
