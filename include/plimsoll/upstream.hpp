// The port to a server of models. Whatever it speaks, it is asked and answers in OpenAI's form.
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
  std::string route;  // of OpenAI's: "/v1/chat/completions", "/v1/embeddings"
  std::string body;   // goes out byte for byte to a server that speaks OpenAI
  std::string model;  // as the server knows it
  std::string owner;  // whose it is: what is kept of one's prompts serves no other
  bool stream = false;
  // The window to load the model with, where the server lets us choose one (U2).
  std::optional<Tokens> num_ctx;
  // What the server's own API cannot express: refuse the request, or leave it out and say so.
  bool refuse_inexpressible = true;
};

// One server, for one thread, like the HttpStreams that it talks through.
class UpstreamLink {
 public:
  UpstreamLink() = default;
  UpstreamLink(const UpstreamLink&) = delete;
  UpstreamLink& operator=(const UpstreamLink&) = delete;
  virtual ~UpstreamLink() = default;

  // A reply in OpenAI's form: one JSON object, or with `stream` server-sent events that end in [DONE]; one of
  // status 400 and up is as OpenAI's errors are, or as the server worded it. A header
  // x-plimsoll-left-out names, separated by commas, the fields that the server's API cannot express.
  // Nothing is tried twice. bad_input: the request cannot be put into the server's form, and why.
  virtual Awaitable<Result<std::unique_ptr<HttpStream>>> send(UpstreamRequest request, Deadline deadline) = 0;

  // The prompt that the server's own template makes of a chat, without asking the model. unsupported where
  // the server does not tell.
  virtual Awaitable<Result<std::string>> rendered(UpstreamRequest /*request*/, Deadline /*deadline*/) {
    co_return fail(Errc::unsupported, "this server does not show its prompts");
  }
};

}  // namespace plimsoll
